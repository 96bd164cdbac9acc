package main

import (
	"bufio"
	"flag"
	"io"

	"sigs.k8s.io/yaml"
)

// yamlAnswer is the result of the YAML reader of kubectl and the API server for an input: the JSON exactly as printed,
// or its error. StrictError is present if only the strict reader rejects the input.
type yamlAnswer struct {
	JSON        *string `json:"json,omitempty"`
	Error       string  `json:"error,omitempty"`
	StrictError string  `json:"strict_error,omitempty"`
}

func readYAML(text string) (a yamlAnswer) {
	err := guard(func() error {
		json, err := yaml.YAMLToJSON([]byte(text))
		if err == nil {
			printed := string(json)
			a.JSON = &printed
		}
		return err
	})
	if err != nil {
		a.Error = err.Error()
		return a
	}
	err = guard(func() error {
		_, err := yaml.YAMLToJSONStrict([]byte(text))
		return err
	})
	if err != nil {
		a.StrictError = err.Error()
	}
	return a
}

func runYAML(args []string, in io.Reader, out *bufio.Writer) error {
	flags := flag.NewFlagSet("yaml", flag.ExitOnError)
	flags.Parse(args)
	return eachRequest(in, out, func(r request) (any, error) {
		return struct {
			ID string `json:"id"`
			yamlAnswer
		}{r.ID, readYAML(r.YAML)}, nil
	})
}
