// Package testing starts kubeshape where upstream's package of this name starts kube-apiserver.
package testing

import (
	"context"
	"errors"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	restclient "k8s.io/client-go/rest"

	// The gates of kube-apiserver.
	_ "k8s.io/kubernetes/pkg/features"
)

// TearDownFunc ends the server.
type TearDownFunc func()

// TestServerInstanceOptions has no options that kubeshape understands.
type TestServerInstanceOptions struct {
	EnableCertAuth bool
	BinaryVersion  string
	RequestTimeout time.Duration
}

// TestServer is a server that runs.
type TestServer struct {
	ClientConfig      *restclient.Config
	TearDownFn        TearDownFunc
	TmpDir            string
	EtcdClient        *clientv3.Client
	EtcdStoragePrefix string
}

// NewDefaultTestServerOptions returns the default options.
func NewDefaultTestServerOptions() *TestServerInstanceOptions {
	return &TestServerInstanceOptions{EnableCertAuth: true}
}

// StartTestServerOrDie starts a server, and fails the test if it does not start.
func StartTestServerOrDie(t testing.TB, options *TestServerInstanceOptions, flags []string, storage *storagebackend.Config) *TestServer {
	result, err := StartTestServer(t, options, flags, storage)
	if err != nil {
		t.Fatalf("failed to launch server: %v", err)
	}
	return &result
}

// StartTestServer starts a server with the flags of kube-apiserver. Servers with the same storage one after the other
// share a file.
func StartTestServer(t testing.TB, _ *TestServerInstanceOptions, flags []string, storage *storagebackend.Config) (result TestServer, err error) {
	// Tests ask whether the environments of expressions exist, which a server makes when it starts.
	environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	file := ""
	if storage != nil {
		file = storage.Prefix
	}
	started, err := launch(t, flags, file)
	if err != nil {
		return result, err
	}
	etcd, _, err := GetEtcdClients(storagebackend.TransportConfig{})
	return TestServer{ClientConfig: started.config, TearDownFn: started.tearDown, TmpDir: started.folder, EtcdClient: etcd}, err
}

// GetEtcdClients returns clients whose requests fail: there is no etcd.
func GetEtcdClients(storagebackend.TransportConfig) (*clientv3.Client, clientv3.KV, error) {
	client := clientv3.NewCtxClient(context.Background())
	client.KV = nothing{}
	return client, client.KV, nil
}

var errNoEtcd = errors.New("kubeshape keeps no objects in etcd")

// nothing answers requests to etcd with an error.
type nothing struct{ clientv3.KV }

func (nothing) Put(context.Context, string, string, ...clientv3.OpOption) (*clientv3.PutResponse, error) {
	return nil, errNoEtcd
}

func (nothing) Get(context.Context, string, ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	return nil, errNoEtcd
}

func (nothing) Delete(context.Context, string, ...clientv3.OpOption) (*clientv3.DeleteResponse, error) {
	return nil, errNoEtcd
}
