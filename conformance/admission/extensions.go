// Package testing starts kubeshape where upstream's package of this name starts apiextensions-apiserver.
package testing

import (
	"os"
	"path/filepath"

	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	restclient "k8s.io/client-go/rest"
)

// TearDownFunc ends the server.
type TearDownFunc func()

// TestServerInstanceOptions has no options.
type TestServerInstanceOptions struct{}

// TestServer is a server that runs. Its options are those of a storage that nothing answers for.
type TestServer struct {
	ClientConfig    *restclient.Config
	ServerOpts      *options.CustomResourceDefinitionsServerOptions
	TearDownFn      TearDownFunc
	TmpDir          string
	CompletedConfig apiserver.CompletedConfig
}

// Logger is a test.
type Logger interface {
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
}

// StartTestServer starts a server with flags. Servers with the same prefix in etcd share a file of objects.
func StartTestServer(t Logger, _ *TestServerInstanceOptions, flags []string, _ *storagebackend.Config) (result TestServer, err error) {
	file := ""
	for at, flag := range flags {
		if flag == "--etcd-prefix" && at+1 < len(flags) {
			file = filepath.Join(os.TempDir(), "kubeshape-objects-"+flags[at+1])
		}
	}
	started, err := launch(t, flags, file)
	if err != nil {
		return result, err
	}
	result.ClientConfig, result.TearDownFn, result.TmpDir = started.config, started.tearDown, started.folder
	result.ServerOpts = options.NewCustomResourceDefinitionsServerOptions(os.Stdout, os.Stderr)
	return result, nil
}
