// Types tells what Go's types of built-in kinds are, and writes objects of them.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
)

const usage = `usage: types members            (the members of the messages of built-in kinds)
       types samples -count N   (objects of built-in kinds in protobuf and JSON)`

func main() {
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
	count := flags.Int("count", 5, "samples of each kind")
	if err := flags.Parse(arguments[1:]); err != nil {
		return err
	}
	output := bufio.NewWriter(os.Stdout)
	var err error
	switch arguments[0] {
	case "members":
		err = protobufTable(output)
	case "samples":
		err = protobufSamples(*count, output)
	default:
		err = errors.New(usage)
	}
	return errors.Join(err, output.Flush())
}
