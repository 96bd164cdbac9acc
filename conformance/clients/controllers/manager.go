package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// finalizer keeps an object until its controller has seen its deletion.
const finalizer = "example.com/controller"

// Managed is the result of a controller of a manager.
type Managed struct {
	// Leader is set if the manager was elected.
	Leader bool `json:"leader"`
	// Reconciled is the number of objects with a status of the controller.
	Reconciled int `json:"reconciled"`
	// Owned is the number of ConfigMaps that the controller created for them.
	Owned int `json:"owned"`
	// Restored is set if a deleted ConfigMap was created again.
	Restored bool `json:"restored"`
	// Finalized is set if a deleted object was gone when its finalizer was.
	Finalized bool `json:"finalized"`
	// Errors is the number of requests that failed, except conflicts.
	Errors int64 `json:"errors"`
}

type reconciler struct {
	client    client.Client
	errors    atomic.Int64
	lastError atomic.Value
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	err := r.reconcile(ctx, request.NamespacedName)
	if err != nil && !apierrors.IsConflict(err) {
		r.errors.Add(1)
		r.lastError.Store(err.Error())
	}
	return ctrl.Result{}, err
}

func empty() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: tabs.Group, Version: tabs.Version, Kind: "Tab"})
	return object
}

func (r *reconciler) reconcile(ctx context.Context, name types.NamespacedName) error {
	object := empty()
	if err := r.client.Get(ctx, name, object); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !object.GetDeletionTimestamp().IsZero() {
		if controllerutil.RemoveFinalizer(object, finalizer) {
			return client.IgnoreNotFound(r.client.Update(ctx, object))
		}
		return nil
	}
	if controllerutil.AddFinalizer(object, finalizer) {
		if err := r.client.Update(ctx, object); err != nil {
			return err
		}
	}
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name.Name, Namespace: name.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.client, owned, func() error {
		size, _, _ := unstructured.NestedInt64(object.Object, "spec", "size")
		owned.Data = map[string]string{"size": fmt.Sprint(size)}
		return controllerutil.SetControllerReference(object, owned, r.client.Scheme())
	})
	// The cache may not have an object that was just created.
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	if isReconciled(object) {
		return nil
	}
	before := object.DeepCopy()
	if err := setReconciled(object); err != nil {
		return err
	}
	return r.client.Status().Patch(ctx, object, client.MergeFrom(before))
}

// manage runs a manager that is elected, with a controller that owns a ConfigMap per object.
func manage(ctx context.Context, config *rest.Config, count int) (*Managed, error) {
	log.SetLogger(logr.Discard())
	writer, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	if err := create(ctx, writer, count); err != nil {
		return nil, err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		LeaderElection:          true,
		LeaderElectionID:        "tabs.example.com",
		LeaderElectionNamespace: "default",
		Metrics:                 server.Options{BindAddress: "0"},
	})
	if err != nil {
		return nil, err
	}
	reconciler := &reconciler{client: manager.GetClient()}
	err = ctrl.NewControllerManagedBy(manager).Named("tabs").For(empty()).Owns(&corev1.ConfigMap{}).Complete(reconciler)
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(running) }()

	found := &Managed{}
	select {
	case <-manager.Elected():
		found.Leader = true
	case err := <-ended:
		stop()
		return nil, errors.Join(errors.New("the manager ended"), err)
	}
	wait := func(what string, is func() bool) error {
		if err := until(ctx, what, is); err != nil {
			return fmt.Errorf("%w; last error: %v", err, reconciler.lastError.Load())
		}
		return nil
	}
	configMaps := writer.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace("default")
	counts := func() (int, int) {
		reconciled, owned := 0, 0
		if list, err := writer.Resource(tabs).List(ctx, metav1.ListOptions{}); err == nil {
			for _, object := range list.Items {
				if isReconciled(&object) {
					reconciled++
				}
			}
		}
		if list, err := configMaps.List(ctx, metav1.ListOptions{}); err == nil {
			for _, object := range list.Items {
				if metav1.GetControllerOf(&object) != nil {
					owned++
				}
			}
		}
		return reconciled, owned
	}
	defer stop()
	if err := wait("all objects are reconciled", func() bool {
		found.Reconciled, found.Owned = counts()
		return found.Reconciled == count && found.Owned == count
	}); err != nil {
		return nil, err
	}

	if err := configMaps.Delete(ctx, "tab-1", metav1.DeleteOptions{}); err != nil {
		return nil, err
	}
	if err := wait("a ConfigMap is back", func() bool {
		_, err := configMaps.Get(ctx, "tab-1", metav1.GetOptions{})
		return err == nil
	}); err != nil {
		return nil, err
	}
	found.Restored = true

	if err := writer.Resource(tabs).Namespace("default").Delete(ctx, "tab-2", metav1.DeleteOptions{}); err != nil {
		return nil, err
	}
	if err := wait("a deleted object is gone", func() bool {
		_, err := writer.Resource(tabs).Namespace("default").Get(ctx, "tab-2", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}); err != nil {
		return nil, err
	}
	found.Finalized = true
	found.Errors = reconciler.errors.Load()
	stop()
	return found, <-ended
}
