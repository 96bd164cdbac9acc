package etcd

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsclientset "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

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

// Resource is a resource of discovery.
type Resource struct {
	Mapping             *meta.RESTMapping
	HasDeleteCollection bool
}

// GetResources returns the resources that can be created and read.
func GetResources(t *testing.T, lists []*metav1.APIResourceList) []Resource {
	var found []Resource
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, resource := range list.APIResources {
			has := func(verb string) bool { return slices.Contains(resource.Verbs, verb) }
			if strings.Contains(resource.Name, "/") || !has("create") || !has("get") {
				continue
			}
			kind := version.WithKind(resource.Kind)
			if resource.Group != "" || resource.Version != "" {
				kind = schema.GroupVersionKind{Group: resource.Group, Version: resource.Version, Kind: resource.Kind}
			}
			scope := meta.RESTScopeRoot
			if resource.Namespaced {
				scope = meta.RESTScopeNamespace
			}
			mapping := &meta.RESTMapping{Resource: version.WithResource(resource.Name), GroupVersionKind: kind, Scope: scope}
			found = append(found, Resource{mapping, has("deletecollection")})
		}
	}
	return found
}

// JSONToUnstructured returns an object with its version and kind, and a client of its resource.
func JSONToUnstructured(text, namespace string, mapping *meta.RESTMapping, client dynamic.Interface) (dynamic.ResourceInterface, *unstructured.Unstructured, error) {
	object := map[string]any{}
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		return nil, nil, err
	}
	object["apiVersion"], object["kind"] = mapping.GroupVersionKind.ToAPIVersionAndKind()
	if mapping.Scope == meta.RESTScopeRoot {
		namespace = ""
	}
	return client.Resource(mapping.Resource).Namespace(namespace), &unstructured.Unstructured{Object: object}, nil
}
