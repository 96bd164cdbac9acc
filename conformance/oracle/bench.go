package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
)

// benchResult is the line a benchmark prints. Counts are of what was built, so that runs can be compared.
type benchResult struct {
	Shape     string  `json:"shape"`
	Jobs      int     `json:"jobs"`
	Files     int     `json:"files"`
	CRDs      int     `json:"crds"`
	Versions  int     `json:"versions"`
	Errors    int     `json:"errors"`
	InBytes   int     `json:"in_bytes"`
	OutBytes  int     `json:"out_bytes"`
	Seconds   float64 `json:"seconds"`
	MaxRSSKiB int64   `json:"max_rss_kib"`
}

func (r *benchResult) add(o benchResult) {
	r.Files += o.Files
	r.CRDs += o.CRDs
	r.Versions += o.Versions
	r.Errors += o.Errors
	r.InBytes += o.InBytes
	r.OutBytes += o.OutBytes
}

// runBench measures the conversion of files to printed documents: reading, decoding, building, marshalling.
func runBench(args []string, _ io.Reader, out *bufio.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	shape := flags.String("shape", "v3", "v3, v2, smd or check")
	jobs := flags.Int("j", 1, "number of workers")
	flags.Parse(args)
	if flags.NArg() != 1 {
		return fmt.Errorf("bench: one PATH expected")
	}
	if !slices.Contains([]string{"v3", "v2", "smd", "check"}, *shape) {
		return fmt.Errorf("bench: unknown shape %q", *shape)
	}
	runtime.GOMAXPROCS(*jobs)

	start := time.Now()
	files, err := yamlFiles(flags.Arg(0))
	if err != nil {
		return err
	}
	total, err := benchFiles(files, *shape, *jobs)
	if err != nil {
		return err
	}
	total.Shape, total.Jobs = *shape, *jobs
	total.Seconds = time.Since(start).Seconds()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return err
	}
	total.MaxRSSKiB = usage.Maxrss
	return encodeLine(out, total)
}

func benchFiles(files []string, shape string, jobs int) (total benchResult, err error) {
	work := make(chan string)
	var group sync.WaitGroup
	var lock sync.Mutex
	for range jobs {
		group.Go(func() {
			var sum benchResult
			var firstErr error
			for file := range work {
				r, err := benchFile(file, shape)
				if err != nil && firstErr == nil {
					firstErr = err
				}
				sum.add(r)
			}
			lock.Lock()
			defer lock.Unlock()
			total.add(sum)
			if err == nil {
				err = firstErr
			}
		})
	}
	for _, file := range files {
		work <- file
	}
	close(work)
	group.Wait()
	return total, err
}

func benchFile(file, shape string) (r benchResult, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return r, err
	}
	r.Files, r.InBytes = 1, len(text)
	for _, m := range readManifests(string(text)) {
		if m.err != nil {
			r.Errors++
			continue
		}
		r.CRDs++
		if shape == "check" {
			r.Versions += len(m.crd.Spec.Versions)
			internal := &apiextensions.CustomResourceDefinition{}
			if err := scheme.Convert(m.crd, internal, nil); err != nil {
				r.Errors++
				continue
			}
			ctx := context.Background()
			strategy := customresourcedefinition.NewStrategy(scheme)
			strategy.PrepareForCreate(ctx, internal)
			r.Errors += len(strategy.Validate(ctx, internal))
			r.OutBytes += len(strategy.WarningsOnCreate(ctx, internal))
			continue
		}
		if shape == "smd" {
			r.Versions += len(m.crd.Spec.Versions)
			schema, err := buildSMD(m.crd)
			if err != nil {
				r.Errors++
				continue
			}
			r.count(smdJSON(schema))
			continue
		}
		for _, v := range m.crd.Spec.Versions {
			if !v.Served {
				continue
			}
			r.Versions++
			var doc any
			var err error
			if shape == "v3" {
				doc, err = buildV3(m.crd, v.Name, publishV3)
			} else {
				doc, err = buildV2(m.crd, v.Name)
			}
			if err != nil {
				r.Errors++
				continue
			}
			r.count(doc)
		}
	}
	return r, nil
}

// count marshals a document and adds its size.
func (r *benchResult) count(doc any) {
	body, err := json.Marshal(doc)
	if err != nil {
		r.Errors++
	}
	r.OutBytes += len(body)
}

// yamlFiles lists the *.yaml files below a path (or the file itself), sorted by path.
func yamlFiles(root string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && (strings.HasSuffix(path, ".yaml") || path == root) {
			files = append(files, path)
		}
		return err
	})
	return files, err
}
