// Serves the conversion webhooks of projects through controller-runtime's handler, as their managers do.
//
// `go run . PORT` listens on this port of 127.0.0.1; 0 chooses a free one. The first line of the output is the URL.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"os"

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
)

func main() {
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
