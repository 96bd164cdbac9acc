// Clients are real clients of a Kubernetes API: the commands of kubectl that read its schema, and client-go's
// discovery, REST mappers and OpenAPI clients.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

const usage = `usage: clients kubectl -server URL -cache DIR          (lines of {"args": […]} on standard input)
       clients discover -server URL -cache DIR
       clients protobuf                               (the members of the messages of built-in kinds)
       clients samples -count N                       (objects of built-in kinds in protobuf and JSON)`

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
	server := flags.String("server", "", "URL of the server")
	cache := flags.String("cache", "", "folder of the clients' caches")
	count := flags.Int("count", 5, "samples of each kind")
	if err := flags.Parse(arguments[1:]); err != nil {
		return err
	}
	switch arguments[0] {
	case "protobuf":
		return buffered(protobufTable)
	case "samples":
		return buffered(func(output io.Writer) error { return protobufSamples(*count, output) })
	}
	if *server == "" || *cache == "" {
		return errors.New(usage)
	}
	// The user's own configuration must not be used.
	for name, value := range map[string]string{"HOME": *cache, "KUBECONFIG": "", "COLUMNS": "80"} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	output := bufio.NewWriter(os.Stdout)
	defer output.Flush()
	switch arguments[0] {
	case "kubectl":
		return kubectlLines(*server, *cache, os.Stdin, output)
	case "discover":
		found, err := discover(*server, *cache)
		if err != nil {
			return err
		}
		return json.NewEncoder(output).Encode(found)
	}
	return errors.New(usage)
}

// buffered lets something print to standard output.
func buffered(print func(io.Writer) error) error {
	output := bufio.NewWriter(os.Stdout)
	if err := print(output); err != nil {
		return err
	}
	return output.Flush()
}

// kubectlLines reads lines of {"args"} and writes lines of {"args", "exit", "stdout", "stderr"}.
func kubectlLines(server, cache string, input io.Reader, output io.Writer) error {
	lines := bufio.NewScanner(input)
	lines.Buffer(nil, 1<<20)
	encoder := json.NewEncoder(output)
	for lines.Scan() {
		var call Call
		if err := json.Unmarshal(lines.Bytes(), &call); err != nil {
			return err
		}
		if err := encoder.Encode(kubectl(server, cache, call.Args)); err != nil {
			return err
		}
	}
	return lines.Err()
}
