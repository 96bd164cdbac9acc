package kubeshape_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubeshape/kubeshape/kubeshape/go"
)

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {size: {type: integer, maximum: 5}}}}
`

var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

func write(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "widgets.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func widget(name string, size int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"name": name},
		"spec":     map[string]any{"size": size},
	}}
}

func TestObjects(t *testing.T) {
	ctx := context.Background()
	server := kubeshape.New(t, kubeshape.Options{Definitions: []string{write(t, definition)}, ManualClock: true})
	client, err := dynamic.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	all := client.Resource(widgets).Namespace("default")
	if _, err := all.Create(ctx, widget("big", 6), metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		t.Fatalf("expected an invalid object: %v", err)
	}
	start := time.Unix(1_000_000_000, 0)
	if err := server.Set(ctx, start); err != nil {
		t.Fatal(err)
	}
	if err := server.Advance(ctx, 90*time.Second); err != nil {
		t.Fatal(err)
	}
	if now, err := server.Now(ctx); err != nil || !now.Equal(start.Add(90*time.Second)) {
		t.Fatalf("the clock shows %v: %v", now, err)
	}
	created, err := all.Create(ctx, widget("a", 1), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := created.GetCreationTimestamp(); !got.Time.Equal(start.Add(90 * time.Second)) {
		t.Fatalf("created at %v", got)
	}
	kept, err := server.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := all.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := all.Create(ctx, widget("b", 2), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := server.Restore(ctx, kept); err != nil {
		t.Fatal(err)
	}
	list, err := all.List(ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.Items[0].GetName() != "a" {
		t.Fatalf("expected the first object: %v: %v", list, err)
	}
	if err := server.Restore(ctx, 99); err == nil || !strings.Contains(err.Error(), "there is no snapshot 99") {
		t.Fatalf("expected no snapshot: %v", err)
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
}

func TestWorlds(t *testing.T) {
	server := kubeshape.New(t, kubeshape.Options{Definitions: []string{write(t, definition)}, ManualClock: true})
	of := func(t *testing.T, server *kubeshape.Server) dynamic.ResourceInterface {
		t.Helper()
		client, err := dynamic.NewForConfig(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		return client.Resource(widgets).Namespace("default")
	}
	names := func(t *testing.T, server *kubeshape.Server) string {
		t.Helper()
		list, err := of(t, server).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, item := range list.Items {
			names = append(names, item.GetName())
		}
		return strings.Join(names, " ")
	}
	if _, err := of(t, server).Create(t.Context(), widget("prepared", 1), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	prepared, err := server.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Run("cases", func(t *testing.T) {
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				world := server.World(t, prepared)
				if _, err := of(t, world).Create(t.Context(), widget("z"+name, 2), metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
				if err := world.Advance(t.Context(), time.Hour); err != nil {
					t.Fatal(err)
				}
				if got := names(t, world); got != "prepared z"+name {
					t.Fatalf("found %q", got)
				}
				if err := world.Restore(t.Context(), kubeshape.AtStart); err != nil {
					t.Fatal(err)
				}
				if got := names(t, world); got != "prepared" {
					t.Fatalf("found %q", got)
				}
			})
		}
	})
	if got := names(t, server); got != "prepared" {
		t.Fatalf("found %q", got)
	}
	world, err := server.NewWorld(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := names(t, world); got != "" {
		t.Fatalf("found %q", got)
	}
	if err := world.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := of(t, world).List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Fatal("a world answers after its end")
	}
	if _, err := server.NewWorld(t.Context(), 99); err == nil || !strings.Contains(err.Error(), "there is no snapshot 99") {
		t.Fatalf("expected no snapshot: %v", err)
	}
}

func TestWrongStarts(t *testing.T) {
	cases := map[string]struct {
		options  kubeshape.Options
		expected string
	}{
		"no program":         {kubeshape.Options{Program: filepath.Join(t.TempDir(), "missing")}, "no such file"},
		"a wrong option":     {kubeshape.Options{Arguments: []string{"--wrong"}}, "--wrong"},
		"a wrong definition": {kubeshape.Options{Definitions: []string{write(t, "a: [")}}, "does not"},
		"no time":            {kubeshape.Options{Timeout: time.Nanosecond}, "deadline exceeded"},
	}
	for name, one := range cases {
		t.Run(name, func(t *testing.T) {
			server, err := kubeshape.Start(context.Background(), one.options)
			if err == nil {
				_ = server.Stop()
				t.Fatal("it starts")
			}
			if !strings.Contains(err.Error(), one.expected) {
				t.Fatalf("%v\nexpected %q", err, one.expected)
			}
		})
	}
}

func TestClockOfTheSystem(t *testing.T) {
	server := kubeshape.New(t, kubeshape.Options{})
	err := server.Advance(context.Background(), time.Second)
	if err == nil || !strings.Contains(err.Error(), "--clock manual") {
		t.Fatalf("expected an error that says what to do: %v", err)
	}
}

// TestGuide checks that the example in the guide is the one that runs here.
func TestGuide(t *testing.T) {
	guide, err := os.ReadFile("../../docs/envtest.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	definition, err := os.ReadFile("crds/widgets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(guide), "```yaml\n"+string(definition)+"```") {
		t.Fatal("docs/envtest.md does not have crds/widgets.yaml")
	}
	text := strings.Replace(string(example), "package kubeshape_test", "package widgets_test", 1)
	if !strings.Contains(string(guide), "```go\n"+text+"```") {
		t.Fatal("docs/envtest.md does not have the example of example_test.go")
	}
}
