// Package framework has what tests of admission policies and of the server use of upstream's package of this name.
package framework

import (
	"context"
	"errors"
	"os"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	client "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	openapi "k8s.io/kube-openapi/pkg/common"

	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	apiservertesting "k8s.io/kubernetes/cmd/kube-apiserver/app/testing"
)

// TestServerSetup changes the options of a server.
type TestServerSetup struct {
	ModifyServerRunOptions func(*options.ServerRunOptions)
	// ModifyServerConfig is not called: it changes structs of kube-apiserver.
	ModifyServerConfig any
}

// TearDownFunc ends a server.
type TearDownFunc func()

// EtcdMain runs the tests. No etcd is needed.
func EtcdMain(tests func() int) {
	os.Exit(tests())
}

// GetEtcdURL returns an address where nothing answers.
func GetEtcdURL() string {
	return "http://127.0.0.1:1"
}

// RunCustomEtcd starts nothing. A test of the storage fails.
func RunCustomEtcd(klog.Logger, string, []string) (string, func(), error) {
	return "", func() {}, errors.New("kubeshape keeps no objects in etcd")
}

// DefaultEtcdOptions returns the storage of one server.
func DefaultEtcdOptions() *options.EtcdOptions {
	return &options.EtcdOptions{StorageConfig: *SharedEtcd()}
}

// DefaultOpenAPIConfig returns a configuration that has no effect.
func DefaultOpenAPIConfig() *openapi.Config {
	return &openapi.Config{}
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
	set.Etcd.StorageConfig = *SharedEtcd()
	set.Authorization.Modes = []string{"Node", "RBAC"}
	if setup.ModifyServerRunOptions != nil {
		setup.ModifyServerRunOptions(set)
	}
	server := apiservertesting.StartTestServerOrDie(t, nil, set.Flags(), &set.Etcd.StorageConfig)
	return client.NewForConfigOrDie(server.ClientConfig), server.ClientConfig, TearDownFunc(server.TearDownFn)
}

// CreateNamespaceOrDie creates a namespace.
func CreateNamespaceOrDie(clients client.Interface, name string, t testing.TB) *v1.Namespace {
	namespace := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	created, err := clients.CoreV1().Namespaces().Create(context.Background(), namespace, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("Failed to create namespace: %v", err)
	}
	return created
}

// DeleteNamespaceOrDie deletes a namespace.
func DeleteNamespaceOrDie(clients client.Interface, namespace *v1.Namespace, t testing.TB) {
	err := clients.CoreV1().Namespaces().Delete(context.Background(), namespace.Name, metav1.DeleteOptions{})
	if err != nil {
		t.Fatalf("Failed to delete namespace: %v", err)
	}
}
