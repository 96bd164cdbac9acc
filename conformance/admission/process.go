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
	genericfeatures "k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/component-base/featuregate"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
)

// admin is the token of the clients that tests get: the loopback client of a server.
const admin = "administrator"

// process is a server that runs.
type process struct {
	config   *restclient.Config
	tearDown func()
	folder   string
}

// launch starts kubeshape with flags of kube-apiserver. Servers with the same file one after the other share objects.
func launch(t any, flags []string, file string) (started process, err error) {
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		return started, fmt.Errorf("KUBEBUILDER_ASSETS does not name the folder of kubeshape envtest")
	}
	folder, err := os.MkdirTemp("", "kubeshape-admission")
	if err != nil {
		return started, err
	}
	port, err := freePort()
	if err != nil {
		return started, err
	}
	tokens := filepath.Join(folder, "tokens.csv")
	if flags, err = withAdmin(tokens, flags); err != nil {
		return started, err
	}
	key := filepath.Join(folder, "service-accounts.key")
	if err := writeKey(key); err != nil {
		return started, err
	}
	arguments := []string{
		"--secure-port", strconv.Itoa(port), "--bind-address", "127.0.0.1", "--cert-dir", folder,
		"--token-auth-file", tokens, "--service-account-issuer", "https://issuer.example.com",
		"--service-account-key-file", key, "--service-account-signing-key-file", key,
		"--kubeshape-kubernetes", release(flags),
	}
	if tb, is := t.(testing.TB); is {
		if err := setGates(tb, flags); err != nil {
			return started, err
		}
	}
	// Tests set this gate for themselves and for the server in their process.
	if utilfeature.DefaultFeatureGate.Enabled(genericfeatures.CBORServingAndStorage) {
		arguments = append(arguments, "--feature-gates=CBORServingAndStorage=true")
	}
	if file != "" {
		arguments = append(arguments, "--kubeshape-data", file)
	}
	server := exec.Command(filepath.Join(assets, "kube-apiserver"), append(arguments, flags...)...)
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		return started, err
	}
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		return started, err
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
		return started, fmt.Errorf("%w\n%s", err, text)
	}
	return process{config, tearDown, folder}, nil
}

// release returns the release whose API the server has: that which a flag or the gates of this process emulate.
func release(flags []string) string {
	for _, flag := range flags {
		if version, is := strings.CutPrefix(flag, "--emulated-version="); is {
			return strings.TrimPrefix(version, "kube=")
		}
	}
	version := utilfeature.DefaultMutableFeatureGate.EmulationVersion()
	return fmt.Sprintf("%d.%d", version.Major(), version.Minor())
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
