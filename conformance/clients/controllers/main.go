// Controllers are example controllers for a server that has the definition of tabs.example.com: one on client-go's
// informers, and a manager of controller-runtime. Each prints its results as JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

const usage = `usage: controllers informers -server URL [-count N]
       controllers manager   -server URL [-count N]`

// patience is far longer than anything here takes.
const patience = 2 * time.Minute

var tabs = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "tabs"}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) == 0 {
		return errors.New(usage)
	}
	flags := flag.NewFlagSet(arguments[0], flag.ContinueOnError)
	server := flags.String("server", "", "URL of the server")
	count := flags.Int("count", 1000, "number of objects")
	if err := flags.Parse(arguments[1:]); err != nil {
		return err
	}
	if *server == "" {
		return errors.New(usage)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	// Without a limit of its own, the client sends requests as fast as it can.
	config := &rest.Config{Host: *server, QPS: -1}
	var found any
	var err error
	switch arguments[0] {
	case "informers":
		found, err = informers(ctx, config, *count)
	case "manager":
		found, err = manage(ctx, config, *count)
	default:
		return errors.New(usage)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

func tab(name string, size int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1",
		"kind":       "Tab",
		"metadata":   map[string]any{"name": name, "namespace": "default"},
		"spec":       map[string]any{"size": size},
	}}
}

// create creates the objects tab-0, tab-1, …
func create(ctx context.Context, client dynamic.Interface, count int) error {
	for n := range count {
		object := tab(fmt.Sprintf("tab-%d", n), int64(n))
		if _, err := client.Resource(tabs).Namespace("default").Create(ctx, object, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// isReconciled returns whether the status is the one of the object's generation.
func isReconciled(object *unstructured.Unstructured) bool {
	seen, found, err := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
	return err == nil && found && seen == object.GetGeneration()
}

func setReconciled(object *unstructured.Unstructured) error {
	return unstructured.SetNestedField(object.Object, object.GetGeneration(), "status", "observedGeneration")
}

// until waits until a condition is true.
func until(ctx context.Context, what string, is func() bool) error {
	for !is() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting until %s: %w", what, ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}
