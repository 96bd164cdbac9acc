// Command smd-oracle runs structured-merge-diff and apimachinery's managed fields.
//
// It is the reference that conformance tests and benchmarks of server-side apply compare with; README.md describes its
// commands and records.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"testing"

	"k8s.io/klog/v2"
)

// command is one subcommand: args follow its name.
type command struct {
	name  string
	usage string
	run   func(args []string, out *bufio.Writer) error
}

func commands() []command {
	return []command{
		{"generate", "generate [-seed S] [-count N | -only I,J] [-what ssa,typed,sets,odd] [-patience N]", runGenerate},
		{"scenario", "scenario [-update] [-answers FILE.ndjson.gz] FILE…", runScenario},
		{"bench", "bench [-time 1s] [-only WORD] FOLDER", runBench},
		{"bench-inputs", "bench-inputs FOLDER OUT", runBenchInputs},
	}
}

func main() {
	// The libraries log what they also return; keep stderr for our own errors.
	klog.SetOutput(io.Discard)
	logging := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(logging)
	logging.Parse([]string{"-logtostderr=false", "-stderrthreshold=FATAL"})
	testing.Init()

	if len(os.Args) < 2 {
		usage()
	}
	for _, cmd := range commands() {
		if cmd.name != os.Args[1] {
			continue
		}
		out := bufio.NewWriterSize(os.Stdout, 1<<20)
		err := cmd.run(os.Args[2:], out)
		if flushErr := out.Flush(); err == nil {
			err = flushErr
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "smd-oracle:", err)
			os.Exit(1)
		}
		return
	}
	usage()
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage:")
	for _, cmd := range commands() {
		fmt.Fprintln(os.Stderr, "  smd-oracle", cmd.usage)
	}
	os.Exit(2)
}
