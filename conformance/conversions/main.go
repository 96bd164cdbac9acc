// Serves the conversion webhooks of projects through controller-runtime's handler, as their managers do, and writes
// their definitions.
//
// `go run . PORT` listens on this port of 127.0.0.1; 0 chooses a free one. The first line of the output is the URL.
//
// `go run . definitions FOLDER OUTPUT` writes the definitions of a folder with a `kustomization.yaml`, with the patches
// that name their webhooks.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	addonsv1beta1 "sigs.k8s.io/cluster-api/api/addons/v1beta1"
	addonsv1beta2 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	bootstrapv1beta1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta1"
	bootstrapv1beta2 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1beta1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta1"
	controlplanev1beta2 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1beta2 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ipamv1alpha1 "sigs.k8s.io/cluster-api/api/ipam/v1alpha1"
	ipamv1beta1 "sigs.k8s.io/cluster-api/api/ipam/v1beta1"
	ipamv1beta2 "sigs.k8s.io/cluster-api/api/ipam/v1beta2"
	runtimev1alpha1 "sigs.k8s.io/cluster-api/api/runtime/v1alpha1"
	runtimev1beta2 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
	kueuev1beta1 "sigs.k8s.io/kueue/apis/kueue/v1beta1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"
)

// kustomization has the members of a kustomization.yaml that make definitions.
type kustomization struct {
	Resources []string `json:"resources"`
	Patches   []struct {
		Path string `json:"path"`
	} `json:"patches"`
}

// read returns a file of YAML as JSON, and the name of the object in it.
func read(path string) (object []byte, name string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, "", err
	}
	if object, err = yaml.YAMLToJSON(text); err != nil {
		return nil, "", err
	}
	var named struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	err = yaml.Unmarshal(object, &named)
	return object, named.Metadata.Name, err
}

// definitions writes the resources of a folder with their patches. A strategic merge of definitions is a merge of maps
// as long as the patches have no lists of objects, as those that name webhooks.
func definitions(folder, output string) error {
	text, err := os.ReadFile(filepath.Join(folder, "kustomization.yaml"))
	if err != nil {
		return err
	}
	var all kustomization
	if err := yaml.Unmarshal(text, &all); err != nil {
		return err
	}
	patches := map[string][][]byte{}
	for _, patch := range all.Patches {
		object, name, err := read(filepath.Join(folder, patch.Path))
		if err != nil {
			return err
		}
		patches[name] = append(patches[name], object)
	}
	for _, resource := range all.Resources {
		object, name, err := read(filepath.Join(folder, resource))
		if err != nil {
			return err
		}
		for _, patch := range patches[name] {
			if object, err = jsonpatch.MergePatch(object, patch); err != nil {
				return err
			}
		}
		text, err := yaml.JSONToYAML(object)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(output, name+".yaml"), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	if len(os.Args) == 4 && os.Args[1] == "definitions" {
		if err := definitions(os.Args[2], os.Args[3]); err != nil {
			log.Fatal(err)
		}
		return
	}
	// Cluster API's managers look the version of a referenced kind up in the cluster.
	version := func(kind schema.GroupKind) (string, error) { return kind.Group + "/v1beta2", nil }
	clusterv1beta1.SetAPIVersionGetter(version)
	controlplanev1beta1.SetAPIVersionGetter(version)
	types := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		addonsv1beta1.AddToScheme, addonsv1beta2.AddToScheme,
		bootstrapv1beta1.AddToScheme, bootstrapv1beta2.AddToScheme,
		controlplanev1beta1.AddToScheme, controlplanev1beta2.AddToScheme,
		clusterv1beta1.AddToScheme, clusterv1beta2.AddToScheme,
		ipamv1alpha1.AddToScheme, ipamv1beta1.AddToScheme, ipamv1beta2.AddToScheme,
		runtimev1alpha1.AddToScheme, runtimev1beta2.AddToScheme,
		kueuev1beta1.AddToScheme, kueuev1beta2.AddToScheme,
	} {
		if err := add(types); err != nil {
			log.Fatal(err)
		}
	}
	port := "0"
	if len(os.Args) > 1 {
		port = os.Args[1]
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s/convert\n", listener.Addr())
	handlers := http.NewServeMux()
	handlers.Handle("/convert", conversion.NewWebhookHandler(types, conversion.NewRegistry()))
	log.Fatal(http.Serve(listener, handlers))
}
