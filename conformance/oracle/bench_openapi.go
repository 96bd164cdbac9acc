package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/kube-openapi/pkg/openapiconv"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// documentShapes are the measured conversions of a document's bytes; each returns the size of its output.
var documentShapes = map[string]func([]byte) (int, error){
	"reprint-v2": func(source []byte) (int, error) { return reprint(source, &spec.Swagger{}) },
	"reprint-v3": func(source []byte) (int, error) { return reprint(source, &spec3.OpenAPI{}) },
	"v2-to-v3": func(source []byte) (int, error) {
		doc := &spec.Swagger{}
		if err := json.Unmarshal(source, doc); err != nil {
			return 0, err
		}
		return size(json.Marshal(openapiconv.ConvertV2ToV3(doc)))
	},
	// Nothing is printed: servers and clients use the schema as it is.
	"v2-to-smd": func(source []byte) (int, error) {
		_, err := smdOfV2(source, false)
		return 0, err
	},
	"v3-to-smd": func(source []byte) (int, error) {
		doc := &spec3.OpenAPI{}
		if err := json.Unmarshal(source, doc); err != nil {
			return 0, err
		}
		if doc.Components == nil {
			return 0, nil
		}
		_, err := smdOfV3(doc, false)
		return 0, err
	},
	"v2-to-pb": func(source []byte) (int, error) { return size(protoV2(source)) },
	"v3-to-pb": func(source []byte) (int, error) { return size(protoV3(source)) },
}

// aggregateShape takes all documents together.
const aggregateShape = "aggregate"

func documentShapeNames() []string {
	return append(slices.Sorted(maps.Keys(documentShapes)), aggregateShape)
}

func reprint(source []byte, doc any) (int, error) {
	if err := json.Unmarshal(source, doc); err != nil {
		return 0, err
	}
	return size(json.Marshal(doc))
}

func size(body []byte, err error) (int, error) { return len(body), err }

// documentBenchResult is the line a benchmark of documents prints. Except for the rounds and the memory, all values are
// per round.
type documentBenchResult struct {
	Shape      string  `json:"shape"`
	Jobs       int     `json:"jobs"`
	Rounds     int     `json:"rounds"`
	Files      int     `json:"files"`
	Errors     int     `json:"errors"`
	InBytes    int     `json:"in_bytes"`
	OutBytes   int     `json:"out_bytes"`
	Seconds    float64 `json:"seconds"`
	MinSeconds float64 `json:"min_seconds"`
	MaxRSSKiB  int64   `json:"max_rss_kib"`
}

// runBenchOpenAPI measures conversions of documents, starting from bytes in memory; YAML is converted to JSON
// beforehand.
func runBenchOpenAPI(args []string, _ io.Reader, out *bufio.Writer) error {
	flags := flag.NewFlagSet("bench-openapi", flag.ExitOnError)
	shape := flags.String("shape", "v2-to-v3", strings.Join(documentShapeNames(), ", "))
	jobs := flags.Int("j", 1, "number of workers")
	rounds := flags.Int("rounds", 1, "number of rounds")
	flags.Parse(args)
	convert := documentShapes[*shape]
	if convert == nil && *shape != aggregateShape {
		return fmt.Errorf("bench-openapi: unknown shape %q", *shape)
	}
	if flags.NArg() == 0 || *rounds < 1 || *jobs < 1 {
		return fmt.Errorf("bench-openapi: PATH, a round and a worker expected")
	}
	runtime.GOMAXPROCS(*jobs)
	sources, err := readSources(flags.Args())
	if err != nil {
		return err
	}

	result := documentBenchResult{Shape: *shape, Jobs: *jobs, Rounds: *rounds, Files: len(sources)}
	for _, source := range sources {
		result.InBytes += len(source)
	}
	var total time.Duration
	for round := range *rounds {
		start := time.Now()
		if convert == nil {
			result.OutBytes, result.Errors = aggregateOnce(sources)
		} else {
			result.OutBytes, result.Errors = convertOnce(sources, convert, *jobs)
		}
		took := time.Since(start)
		total += took
		if round == 0 || took.Seconds() < result.MinSeconds {
			result.MinSeconds = took.Seconds()
		}
	}
	result.Seconds = total.Seconds() / float64(*rounds)
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return err
	}
	result.MaxRSSKiB = usage.Maxrss
	return encodeLine(out, result)
}

func aggregateOnce(sources [][]byte) (bytes, errors int) {
	err := guard(func() error {
		body, err := aggregate(sources)
		bytes = len(body)
		return err
	})
	if err != nil {
		return 0, 1
	}
	return bytes, 0
}

func convertOnce(sources [][]byte, convert func([]byte) (int, error), jobs int) (bytes, errors int) {
	var next, printed, failed atomic.Int64
	var group sync.WaitGroup
	for range jobs {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(sources) {
					return
				}
				err := guard(func() error {
					n, err := convert(sources[i])
					printed.Add(int64(n))
					return err
				})
				if err != nil {
					failed.Add(1)
				}
			}
		})
	}
	group.Wait()
	return int(printed.Load()), int(failed.Load())
}

func readSources(roots []string) ([][]byte, error) {
	var sources [][]byte
	for _, root := range roots {
		files, err := documentFiles(root)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			source, err := toJSON(text)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			sources = append(sources, source)
		}
	}
	return sources, nil
}

// documentFiles lists the JSON and YAML files below a path (or the file itself), sorted by path.
func documentFiles(root string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && (path == root || slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(path))) {
			files = append(files, path)
		}
		return err
	})
	// The walk sorts by the names in each folder, in which `a.json` is before `a/b.json`; paths compare differently.
	slices.Sort(files)
	return files, err
}
