// Package kubeshape starts a Kubernetes API server for tests in some milliseconds.
//
// The server is the program `kubeshape serve --objects` in a process of its own: in memory, without etcd, with
// definitions, validation, server-side apply, admission policies and watches. It has no controllers.
//
//	func TestWidgets(t *testing.T) {
//		server := kubeshape.New(t, kubeshape.Options{Definitions: []string{"config/crd/bases"}})
//		client, err := client.New(server.Config(), client.Options{})
//		…
//	}
package kubeshape

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// Variable names the program if Options do not.
const Variable = "KUBESHAPE"

const (
	ready = "serving on "
	// mostLog is the number of bytes of the log that an error shows.
	mostLog = 64 << 10
	// grace is how long the server has to stop.
	grace = 5 * time.Second
)

// Options say how a server starts. The zero value is a server without definitions.
type Options struct {
	// Program is the path of kubeshape. Without it, the variable KUBESHAPE names it, or it is found in PATH.
	Program string
	// Definitions are files and folders with CustomResourceDefinitions.
	Definitions []string
	// Objects is a file or folder with the first objects.
	Objects string
	// Kubernetes is the release whose API and rules are served, such as "1.36".
	Kubernetes string
	// ManualClock stops the clock: it moves with Advance and Set only.
	ManualClock bool
	// Arguments are further ones of `kubeshape serve`.
	Arguments []string
	// Timeout is the time until the server is ready; a minute if it is zero.
	Timeout time.Duration
}

// Server is a running server, or a world of one.
type Server struct {
	url string
	// of is the server of a world, and world its name.
	of      *Server
	world   string
	folder  string
	command *exec.Cmd
	log     *tail
	once    sync.Once
	done    chan struct{}
}

// New starts a server that stops when the test ends. The test fails if it does not start.
func New(t testing.TB, options Options) *Server {
	t.Helper()
	server, err := Start(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	return server
}

// Start starts a server, and returns when it is ready. The context bounds the start only: call Stop at the end.
func Start(ctx context.Context, options Options) (*Server, error) {
	program, err := find(options.Program)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "kubeshape-")
	if err != nil {
		return nil, err
	}
	server := &Server{folder: folder, log: &tail{}, done: make(chan struct{})}
	if err := server.start(ctx, program, options); err != nil {
		_ = server.Stop()
		return nil, err
	}
	return server, nil
}

func (s *Server) start(ctx context.Context, program string, options Options) error {
	objects := options.Objects
	if objects == "" {
		objects = s.folder
	}
	arguments := []string{"serve", "--listen", "127.0.0.1:0", "--log-level", "error", "--extensions", "on"}
	arguments = append(arguments, "--objects", objects)
	if options.Kubernetes != "" {
		arguments = append(arguments, "--kubernetes", options.Kubernetes)
	}
	if options.ManualClock {
		arguments = append(arguments, "--clock", "manual")
	}
	arguments = append(arguments, options.Arguments...)
	arguments = append(arguments, options.Definitions...)
	command := exec.Command(program, arguments...)
	command.Stderr = s.log
	output, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	s.command = command
	address := make(chan string, 1)
	go func() {
		defer close(s.done)
		defer close(address)
		lines := bufio.NewScanner(output)
		for lines.Scan() {
			if url, found := strings.CutPrefix(lines.Text(), ready); found && s.url == "" {
				s.url = strings.TrimSpace(url)
				address <- s.url
			}
		}
		_, _ = io.Copy(io.Discard, output)
		_ = command.Wait()
	}()
	limit := options.Timeout
	if limit == 0 {
		limit = time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case _, found := <-address:
		if !found {
			return fmt.Errorf("kubeshape serve does not start:\n%s", s.log)
		}
	case <-ctx.Done():
		return fmt.Errorf("kubeshape serve is not ready: %w\n%s", ctx.Err(), s.log)
	}
	return s.check(ctx)
}

// check fails if the server left out inputs that it cannot read.
func (s *Server) check(ctx context.Context) error {
	code, body, err := s.send(ctx, http.MethodGet, "/readyz?verbose", nil)
	if err != nil {
		return err
	}
	if code != http.StatusOK {
		return fmt.Errorf("kubeshape serve does not serve everything:\n%s%s", s.log, body)
	}
	return nil
}

// send sends a request. It returns the status code and the body.
func (s *Server) send(ctx context.Context, method, target string, body io.Reader) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.url+target, body)
	if err != nil {
		return 0, nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, mostLog))
	return response.StatusCode, text, err
}

func find(program string) (string, error) {
	if program == "" {
		program = os.Getenv(Variable)
	}
	if program != "" {
		return filepath.Abs(program)
	}
	found, err := exec.LookPath("kubeshape")
	if err != nil {
		return "", errors.New("kubeshape is not in PATH: install it, or name it with Options.Program or " + Variable)
	}
	return found, nil
}

// URL returns the address, such as http://127.0.0.1:40123.
func (s *Server) URL() string { return s.url }

// Config returns a new configuration for clients, without limits of their rate.
func (s *Server) Config() *rest.Config { return &rest.Config{Host: s.url, QPS: -1} }

// Log returns the end of what the server logged.
func (s *Server) Log() string { return s.log.String() }

// Stop ends the server with its worlds, and deletes its temporary files. For a world, it ends the world. Further calls
// do nothing.
func (s *Server) Stop() error {
	var failed error
	s.once.Do(func() {
		if s.of != nil {
			ctx, cancel := context.WithTimeout(context.Background(), grace)
			defer cancel()
			failed = s.of.control(ctx, http.MethodDelete, "worlds/"+s.world, nil, nil)
			return
		}
		if s.command != nil {
			_ = s.command.Process.Signal(os.Interrupt)
			select {
			case <-s.done:
			case <-time.After(grace):
				_ = s.command.Process.Kill()
				<-s.done
			}
		}
		failed = os.RemoveAll(s.folder)
	})
	return failed
}

// tail keeps the end of what is written to it.
type tail struct {
	lock sync.Mutex
	text bytes.Buffer
}

func (t *tail) Write(text []byte) (int, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.text.Write(text)
	if more := t.text.Len() - mostLog; more > 0 {
		t.text.Next(more)
	}
	return len(text), nil
}

func (t *tail) String() string {
	t.lock.Lock()
	defer t.lock.Unlock()
	return t.text.String()
}
