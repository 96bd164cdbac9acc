// Package testing starts kubeshape where upstream's package of this name starts kube-apiserver.
package testing

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/cel/environment"
	genericfeatures "k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/component-base/featuregate"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	// The gates of kube-apiserver.
	_ "k8s.io/kubernetes/pkg/features"
)

// admin is the token of the clients that tests get: the loopback client of a server.
const admin = "administrator"

// TearDownFunc ends the server.
type TearDownFunc func()

// TestServerInstanceOptions has no options that kubeshape understands.
type TestServerInstanceOptions struct {
	EnableCertAuth bool
	BinaryVersion  string
}

// TestServer is a server that runs.
type TestServer struct {
	ClientConfig *restclient.Config
	TearDownFn   TearDownFunc
	TmpDir       string
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
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		return result, fmt.Errorf("KUBEBUILDER_ASSETS does not name the folder of kubeshape envtest")
	}
	folder, err := os.MkdirTemp("", "kubeshape-admission")
	if err != nil {
		return result, err
	}
	port, err := freePort()
	if err != nil {
		return result, err
	}
	tokens := filepath.Join(folder, "tokens.csv")
	if flags, err = withAdmin(tokens, flags); err != nil {
		return result, err
	}
	key := filepath.Join(folder, "service-accounts.key")
	if err := writeKey(key); err != nil {
		return result, err
	}
	arguments := []string{
		"--secure-port", strconv.Itoa(port), "--bind-address", "127.0.0.1", "--cert-dir", folder,
		"--token-auth-file", tokens, "--service-account-issuer", "https://issuer.example.com",
		"--service-account-key-file", key, "--service-account-signing-key-file", key,
	}
	release := utilfeature.DefaultMutableFeatureGate.EmulationVersion()
	arguments = append(arguments, "--kubeshape-kubernetes", fmt.Sprintf("%d.%d", release.Major(), release.Minor()))
	if err := setGates(t, flags); err != nil {
		return result, err
	}
	// Tests set this gate for themselves and for the server in their process.
	if utilfeature.DefaultFeatureGate.Enabled(genericfeatures.CBORServingAndStorage) {
		arguments = append(arguments, "--feature-gates=CBORServingAndStorage=true")
	}
	// Tests ask whether the environments of expressions exist, which a server makes when it starts.
	environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	if storage != nil && storage.Prefix != "" {
		arguments = append(arguments, "--kubeshape-data", storage.Prefix)
	}
	server := exec.Command(filepath.Join(assets, "kube-apiserver"), append(arguments, flags...)...)
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		return result, err
	}
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		return result, err
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	tearDown := func() {
		_ = server.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			_ = server.Process.Kill()
		}
		_ = log.Close()
		_ = os.RemoveAll(folder)
	}
	config := &restclient.Config{
		Host:            fmt.Sprintf("https://127.0.0.1:%d", port),
		BearerToken:     admin,
		TLSClientConfig: restclient.TLSClientConfig{Insecure: true},
		QPS:             1000,
		Burst:           10000,
	}
	if err := ready(config, ended); err != nil {
		text, _ := os.ReadFile(log.Name())
		tearDown()
		return result, fmt.Errorf("%w\n%s", err, text)
	}
	return TestServer{ClientConfig: config, TearDownFn: tearDown, TmpDir: folder}, nil
}

// withAdmin writes a file with the token of the loopback client and those of the test. It returns the flags without the
// file of the test.
func withAdmin(tokens string, flags []string) ([]string, error) {
	text := admin + ",system:apiserver,0,system:masters\n"
	var others []string
	for n := 0; n < len(flags); n++ {
		file, is := strings.CutPrefix(flags[n], "--token-auth-file=")
		if flags[n] == "--token-auth-file" && n+1 < len(flags) {
			n++
			file, is = flags[n], true
		}
		if !is {
			others = append(others, flags[n])
			continue
		}
		more, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		text += string(more) + "\n"
	}
	return others, os.WriteFile(tokens, []byte(text), 0o600)
}

// setGates sets the feature gates of flags in this process, where libraries of the tests read them.
func setGates(t testing.TB, flags []string) error {
	for _, flag := range flags {
		list, is := strings.CutPrefix(flag, "--feature-gates=")
		if !is {
			continue
		}
		for setting := range strings.SplitSeq(list, ",") {
			name, value, _ := strings.Cut(setting, "=")
			enabled, err := strconv.ParseBool(value)
			if err != nil {
				return err
			}
			featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, featuregate.Feature(name), enabled)
		}
	}
	return nil
}

// writeKey writes a key that signs tokens of service accounts.
func writeKey(path string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	text, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// ready waits until the namespace default exists.
func ready(config *restclient.Config, ended <-chan error) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	deadline := time.Now().Add(20 * time.Second)
	for {
		_, err := client.CoreV1().Namespaces().Get(context.Background(), "default", metav1.GetOptions{})
		if err == nil {
			return nil
		}
		select {
		case ended := <-ended:
			return fmt.Errorf("the server ended: %w", ended)
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return err
		}
	}
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
