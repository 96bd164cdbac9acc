package kubeshape

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"
)

// Snapshot is a kept state of the objects.
type Snapshot int64

// Snapshot keeps the current objects. The server keeps the last 100 states.
func (s *Server) Snapshot(ctx context.Context) (Snapshot, error) {
	var kept struct {
		Snapshot Snapshot `json:"snapshot"`
	}
	err := s.control(ctx, http.MethodPost, "snapshot", nil, &kept)
	return kept.Snapshot, err
}

// AtStart is the state with which the server or the world began. It is always kept.
const AtStart Snapshot = 0

// World makes a world that ends when the test ends: the objects of a kept state, or without one those with which the
// server began, at a port of their own in the same process. Nothing that happens in a world affects another one or the
// server. Cases that run at the same time have one each. The test fails if there is no world.
func (s *Server) World(t testing.TB, from ...Snapshot) *Server {
	t.Helper()
	world, err := s.NewWorld(t.Context(), from...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = world.Stop() })
	return world
}

// NewWorld makes a world as World does. Call Stop at the end. A world cannot make others.
func (s *Server) NewWorld(ctx context.Context, from ...Snapshot) (*Server, error) {
	begin := AtStart
	if len(from) > 1 {
		return nil, fmt.Errorf("a world begins with one state: found %d", len(from))
	}
	if len(from) == 1 {
		begin = from[0]
	}
	var made struct {
		World string `json:"world"`
		URL   string `json:"url"`
	}
	if err := s.control(ctx, http.MethodPost, "worlds", map[string]Snapshot{"snapshot": begin}, &made); err != nil {
		return nil, err
	}
	return &Server{url: made.URL, of: s, world: made.World, log: s.log}, nil
}

// Restore returns to a kept state: what was created since is deleted, and what was changed or deleted is back, with new
// resource versions. Watches see the changes.
func (s *Server) Restore(ctx context.Context, to Snapshot) error {
	return s.control(ctx, http.MethodPost, "restore", map[string]Snapshot{"snapshot": to}, nil)
}

// Now returns the time of the clock.
func (s *Server) Now(ctx context.Context) (time.Time, error) {
	var clock struct {
		Now time.Time `json:"now"`
	}
	err := s.control(ctx, http.MethodGet, "clock", nil, &clock)
	return clock.Now, err
}

// Advance moves the clock. It must be manual.
func (s *Server) Advance(ctx context.Context, by time.Duration) error {
	return s.control(ctx, http.MethodPost, "clock", map[string]float64{"advanceSeconds": by.Seconds()}, nil)
}

// Set sets the clock, in whole seconds. It must be manual.
func (s *Server) Set(ctx context.Context, to time.Time) error {
	return s.control(ctx, http.MethodPost, "clock", map[string]int64{"unixSeconds": to.Unix()}, nil)
}

// control sends a request to a path of the server's extensions.
func (s *Server) control(ctx context.Context, method, name string, sent, received any) error {
	var body io.Reader
	if sent != nil {
		text, err := json.Marshal(sent)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	code, text, err := s.send(ctx, method, "/kubeshape/"+name, body)
	if err != nil {
		return err
	}
	if code != http.StatusOK {
		var status struct {
			Message string `json:"message"`
		}
		_ = json.Unmarshal(text, &status)
		return fmt.Errorf("%s of the server: %s: %s", name, http.StatusText(code), status.Message)
	}
	if received == nil {
		return nil
	}
	return json.Unmarshal(text, received)
}
