// Controller writes one object as a controller on client-go does: `controller -server URL -manager NAME VERB`, with the
// object on standard input. If the server refuses, it prints the error as client-go has it, and the exit code is 1.
//
//   - apply sends a server-side apply.
//   - update reads the object, merges what is given (RFC 7396) into it, and writes it back. An object that does not exist
//     is created.
//   - flux applies as Flux's kustomize-controller does, with Flux's own library.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

var (
	server      = flag.String("server", "", "URL of the server")
	manager     = flag.String("manager", "", "name of the field manager")
	force       = flag.Bool("force", false, "take over fields that other managers own")
	subresource = flag.String("subresource", "", "subresource to write")
)

func main() {
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, verb string) error {
	given := &unstructured.Unstructured{}
	if err := json.NewDecoder(os.Stdin).Decode(&given.Object); err != nil {
		return err
	}
	if verb == "flux" {
		return flux(ctx, given)
	}
	client, err := clientOf(given)
	if err != nil {
		return err
	}
	var below []string
	if *subresource != "" {
		below = append(below, *subresource)
	}
	switch verb {
	case "apply":
		options := metav1.ApplyOptions{FieldManager: *manager, Force: *force}
		_, err = client.Apply(ctx, given.GetName(), given, options, below...)
		return err
	case "update":
		return update(ctx, client, given, below)
	}
	return errors.New("the verb is apply, update or flux")
}

// clientOf finds the resource of an object.
func clientOf(object *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	config := &rest.Config{Host: *server, QPS: 100, Burst: 100}
	found, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	groups, err := restmapper.GetAPIGroupResources(found)
	if err != nil {
		return nil, err
	}
	kind := object.GroupVersionKind()
	mapping, err := restmapper.NewDiscoveryRESTMapper(groups).RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return client.Resource(mapping.Resource).Namespace(object.GetNamespace()), nil
}

func update(ctx context.Context, client dynamic.ResourceInterface, given *unstructured.Unstructured, below []string) error {
	live, err := client.Get(ctx, given.GetName(), metav1.GetOptions{}, below...)
	if apierrors.IsNotFound(err) && len(below) == 0 {
		_, err = client.Create(ctx, given, metav1.CreateOptions{FieldManager: *manager})
		return err
	}
	if err != nil {
		return err
	}
	// The kind of a scale is another one.
	patch := given.DeepCopy()
	delete(patch.Object, "apiVersion")
	delete(patch.Object, "kind")
	before, err := json.Marshal(live.Object)
	if err != nil {
		return err
	}
	change, err := json.Marshal(patch.Object)
	if err != nil {
		return err
	}
	after, err := jsonpatch.MergePatch(before, change)
	if err != nil {
		return err
	}
	merged := &unstructured.Unstructured{}
	if err := json.Unmarshal(after, &merged.Object); err != nil {
		return err
	}
	_, err = client.Update(ctx, merged, metav1.UpdateOptions{FieldManager: *manager}, below...)
	return err
}
