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
       clients discover -server URL -cache DIR`

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
	if err := flags.Parse(arguments[1:]); err != nil {
		return err
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
