// Serve-oracle is the reference for measuring kubeshape serve: an HTTP server of the Kubernetes libraries' own
// handlers, and the libraries' costs of updates.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"k8s.io/klog/v2"
)

const usage = `usage: serve-oracle serve -listen ADDRESS FOLDER
       serve-oracle updates [-rounds N] FOLDER`

func main() {
	// The libraries log every registered group version.
	klog.LogToStderr(false)
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) == 0 {
		return errors.New(usage)
	}
	flags := flag.NewFlagSet(arguments[0], flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:0", "where to listen")
	rounds := flags.Int("rounds", 5, "how many times an update is measured")
	if err := flags.Parse(arguments[1:]); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New(usage)
	}
	switch arguments[0] {
	case "serve":
		return serve(*listen, flags.Arg(0))
	case "updates":
		return updates(flags.Arg(0), *rounds)
	}
	return errors.New(usage)
}
