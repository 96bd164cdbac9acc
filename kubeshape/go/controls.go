package kubeshape

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
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
