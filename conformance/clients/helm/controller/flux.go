package main

import (
	"context"

	"github.com/fluxcd/pkg/ssa"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// flux applies as Flux does: with its library, and with the options of kustomize-controller's `apply`.
func flux(ctx context.Context, object *unstructured.Unstructured) error {
	writer, err := client.New(&rest.Config{Host: *server, QPS: 100, Burst: 100}, client.Options{})
	if err != nil {
		return err
	}
	group := "kustomize.toolkit.fluxcd.io"
	applier := ssa.NewResourceManager(writer, nil, ssa.Owner{Field: *manager, Group: group})
	options := ssa.DefaultApplyOptions()
	options.Cleanup = ssa.ApplyCleanupOptions{
		Annotations: []string{corev1.LastAppliedConfigAnnotation, group + "/checksum", "fluxcd.io/sync-checksum"},
		Labels:      []string{"fluxcd.io/sync-gc-mark"},
		FieldManagers: []ssa.FieldManager{
			{Name: "kubectl", OperationType: metav1.ManagedFieldsOperationApply},
			{Name: "kubectl", OperationType: metav1.ManagedFieldsOperationUpdate},
			{Name: "before-first-apply", OperationType: metav1.ManagedFieldsOperationUpdate},
			{Name: *manager, OperationType: metav1.ManagedFieldsOperationUpdate},
		},
		Exclusions: map[string]string{group + "/ssa": "Merge"},
	}
	_, err = applier.Apply(ctx, object, options)
	return err
}
