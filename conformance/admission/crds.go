package etcd

import (
	"context"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsclientset "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	// The versions of groups.
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
)

// CreateTestCRDs creates definitions, and waits until discovery has them.
func CreateTestCRDs(t *testing.T, client apiextensionsclientset.Interface, _ bool, crds ...*apiextensionsv1.CustomResourceDefinition) {
	for _, crd := range crds {
		if _, err := client.ApiextensionsV1().CustomResourceDefinitions().Create(context.Background(), crd, metav1.CreateOptions{}); err != nil {
			t.Fatalf("Failed to create %s CRD; %v", crd.Name, err)
		}
		ready := func(context.Context) (bool, error) { return CrdExistsInDiscovery(client, crd), nil }
		if err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 30*time.Second, true, ready); err != nil {
			t.Fatalf("Failed to see %s in discovery: %v", crd.Name, err)
		}
	}
}

// CrdExistsInDiscovery returns whether discovery has every served version of a definition.
func CrdExistsInDiscovery(client apiextensionsclientset.Interface, crd *apiextensionsv1.CustomResourceDefinition) bool {
	for _, version := range crd.Spec.Versions {
		if version.Served && !isServed(client, crd, version.Name) {
			return false
		}
	}
	return true
}

func isServed(client apiextensionsclientset.Interface, crd *apiextensionsv1.CustomResourceDefinition, version string) bool {
	found, err := client.Discovery().ServerResourcesForGroupVersion(crd.Spec.Group + "/" + version)
	if err != nil {
		return false
	}
	for _, resource := range found.APIResources {
		if resource.Name == crd.Spec.Names.Plural {
			return true
		}
	}
	return false
}
