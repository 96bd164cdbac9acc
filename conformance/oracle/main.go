// Command oracle runs the Kubernetes libraries on CustomResourceDefinitions, OpenAPI documents, objects and YAML.
//
// It is the reference that conformance tests and benchmarks compare with; README.md describes its commands and records.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/klog/v2"
)

// command is one subcommand: args follow its name.
type command struct {
	usage string
	run   func(args []string, in io.Reader, out *bufio.Writer) error
}

var commands = map[string]command{
	"answer":            {"answer [-no-merged] [-answers structural,v3,v2,smd] < requests.ndjson", runAnswer},
	"answer-openapi":    {"answer-openapi < requests.ndjson", runAnswerOpenAPI},
	"aggregate":         {"aggregate < requests.ndjson", runAggregate},
	"typed":             {"typed < requests.ndjson", runTyped},
	"go-names":          {"go-names", runGoNames},
	"yaml":              {"yaml < requests.ndjson", runYAML},
	"definitions":       {"definitions < requests.ndjson", runDefinitions},
	"expressions":       {"expressions < requests.ndjson", runExpressions},
	"objects":           {"objects < requests.ndjson", runObjects},
	"merge-v2":          {"merge-v2 [-onto swagger.json] < requests.ndjson", runMergeV2},
	"bench":             {"bench -shape v3|v2|smd|check [-j N] PATH", runBench},
	"bench-objects":     {"bench-objects [-time D] STREAM", runBenchObjects},
	"bench-expressions": {"bench-expressions < requests.ndjson", runBenchExpressions},
	"bench-openapi":     {"bench-openapi -shape " + strings.Join(documentShapeNames(), "|") + " [-j N] [-rounds N] PATH...", runBenchOpenAPI},
	"bench-policies":    {"bench-policies [-requests N] [-j N] [-rounds N] < policies.json", runBenchPolicies},
	"record":            {"record CORPUS_DIR OUT_DIR", runRecord},
}

func main() {
	// The libraries log what they also return; keep stderr for our own errors.
	klog.SetOutput(io.Discard)
	logging := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(logging)
	logging.Parse([]string{"-logtostderr=false", "-stderrthreshold=FATAL"})

	if len(os.Args) < 2 {
		usage()
	}
	cmd, ok := commands[os.Args[1]]
	if !ok {
		usage()
	}
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	err := cmd.run(os.Args[2:], os.Stdin, out)
	if flushErr := out.Flush(); err == nil {
		err = flushErr
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage:")
	for _, name := range []string{"answer", "answer-openapi", "aggregate", "typed", "go-names", "yaml", "definitions", "expressions", "objects", "merge-v2", "bench", "bench-expressions", "bench-objects", "bench-openapi", "bench-policies", "record"} {
		fmt.Fprintln(os.Stderr, "  oracle", commands[name].usage)
	}
	os.Exit(2)
}
