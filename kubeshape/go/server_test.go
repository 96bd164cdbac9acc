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

func write(t *testing.T, text string) string {
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
