package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// benchObjectsResult is the cost of an object, in microseconds. Each step includes the one before, except the rules.
type benchObjectsResult struct {
	Read     float64  `json:"read"`
	Decode   float64  `json:"decode"`
	Validate float64  `json:"validate"`
	Rules    *float64 `json:"rules,omitempty"`
}

// runBenchObjects measures a server's work on objects of a definition. The stream contains the definition, and then the
// objects in JSON, one per line.
func runBenchObjects(args []string, _ io.Reader, out *bufio.Writer) error {
	flags := flag.NewFlagSet("bench-objects", flag.ExitOnError)
	duration := flags.Duration("time", 500*time.Millisecond, "how long each step is repeated")
	flags.Parse(args)
	if flags.NArg() != 1 {
		return fmt.Errorf("bench-objects: one STREAM expected")
	}
	text, err := os.ReadFile(flags.Arg(0))
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(1)
	var lines [][]byte
	for line := range strings.Lines(string(text)) {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, []byte(line))
		}
	}
	if len(lines) < 2 {
		return fmt.Errorf("bench-objects: found no objects")
	}
	served, err := newResource(lines[0])
	if err != nil {
		return err
	}
	// Objects that cannot be decoded are rejected, which costs time, too. The best of ten portions is used: other work on
	// the machine disturbs some, and each is long enough for the garbage collector.
	perObject := func(step func(u *unstructured.Unstructured)) (float64, error) {
		best := math.Inf(1)
		for range 10 {
			start, rounds := time.Now(), 0
			for time.Since(start) < *duration/10 {
				for _, line := range lines[1:] {
					content := map[string]any{}
					if err := utiljson.Unmarshal(line, &content); err != nil {
						return 0, err
					}
					step(&unstructured.Unstructured{Object: content})
				}
				rounds++
			}
			took := time.Since(start)
			best = min(best, float64(took.Nanoseconds())/1e3/float64(rounds)/float64(len(lines)-1))
		}
		return best, nil
	}
	ctx := context.Background()
	var result benchObjectsResult
	if result.Read, err = perObject(func(*unstructured.Unstructured) {}); err != nil {
		return err
	}
	decode := func(u *unstructured.Unstructured) error { return served.decode(u, &objectRecord{}) }
	if result.Decode, err = perObject(func(u *unstructured.Unstructured) { _ = decode(u) }); err != nil {
		return err
	}
	result.Validate, err = perObject(func(u *unstructured.Unstructured) {
		if decode(u) == nil {
			served.strategy.Validate(ctx, u)
		}
	})
	if err != nil {
		return err
	}
	if served.rules != nil {
		rules, err := perObject(func(u *unstructured.Unstructured) {
			if decode(u) == nil {
				served.rules.Validate(ctx, nil, served.structural, u.Object, nil, celconfig.RuntimeCELCostBudget)
			}
		})
		if err != nil {
			return err
		}
		rules -= result.Decode
		result.Rules = &rules
	}
	return encodeLine(out, result)
}
