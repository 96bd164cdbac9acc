package kubeshape_test

import (
	"testing"
	"time"

	kubeshape "github.com/kubeshape/kubeshape/kubeshape/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// widgetsOf returns a client for the widgets of a server or a world. A client of controller-runtime takes the same
// configuration: client.New(server.Config(), client.Options{}).
func widgetsOf(t *testing.T, server *kubeshape.Server) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	kind := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	return client.Resource(kind).Namespace("default")
}

func newWidget(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1",
		"kind":       "Widget",
		"metadata":   map[string]any{"name": name},
		"spec":       map[string]any{"size": int64(1)},
	}}
}

func TestWidgets(t *testing.T) {
	server := kubeshape.New(t, kubeshape.Options{
		Definitions: []string{"crds"},
		ManualClock: true,
	})
	if _, err := widgetsOf(t, server).Create(t.Context(), newWidget("prepared"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	prepared, err := server.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := server.World(t, prepared)
			if err := world.Advance(t.Context(), 30*24*time.Hour); err != nil {
				t.Fatal(err)
			}
			widgets := widgetsOf(t, world)
			if _, err := widgets.Create(t.Context(), newWidget(name), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			list, err := widgets.List(t.Context(), metav1.ListOptions{})
			if err != nil || len(list.Items) != 2 {
				t.Fatalf("expected the prepared widget and %s: %v: %v", name, list, err)
			}
		})
	}
}
