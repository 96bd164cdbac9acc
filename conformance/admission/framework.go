// Package framework has what tests of admission policies use of upstream's package of this name.
package framework

import (
	"context"
	"os"
	"testing"

	"k8s.io/apiserver/pkg/storage/storagebackend"
	client "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	apiservertesting "k8s.io/kubernetes/cmd/kube-apiserver/app/testing"
)

// TestServerSetup changes the options of a server.
type TestServerSetup struct {
	ModifyServerRunOptions func(*options.ServerRunOptions)
}

// TearDownFunc ends a server.
type TearDownFunc func()

// EtcdMain runs the tests. No etcd is needed.
func EtcdMain(tests func() int) {
	os.Exit(tests())
}

// SharedEtcd returns the storage of one server. A server that gets it again has the objects of the one before.
func SharedEtcd() *storagebackend.Config {
	file, err := os.CreateTemp("", "kubeshape-objects")
	if err != nil {
		panic(err)
	}
	_ = file.Close()
	_ = os.Remove(file.Name())
	return &storagebackend.Config{Prefix: file.Name()}
}

// DefaultTestServerFlags returns the flags of most tests. No controller creates service accounts.
func DefaultTestServerFlags() []string {
	return []string{"--disable-admission-plugins=ServiceAccount"}
}

// StartTestServer starts a server with options.
func StartTestServer(_ context.Context, t testing.TB, setup TestServerSetup) (client.Interface, *rest.Config, TearDownFunc) {
	set := options.NewServerRunOptions()
	if setup.ModifyServerRunOptions != nil {
		setup.ModifyServerRunOptions(set)
	}
	server := apiservertesting.StartTestServerOrDie(t, nil, set.Flags(), SharedEtcd())
	return client.NewForConfigOrDie(server.ClientConfig), server.ClientConfig, TearDownFunc(server.TearDownFn)
}
