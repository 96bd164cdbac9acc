package main

import (
	"bufio"
	"flag"
	"io"

	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	builtin "k8s.io/client-go/kubernetes/scheme"
)

// typedAnswer is a server's message about an object of a built-in kind that it decodes with strict field validation; it
// is empty if it accepts the object.
type typedAnswer struct {
	Error string `json:"error,omitempty"`
}

func runTyped(args []string, in io.Reader, out *bufio.Writer) error {
	flags := flag.NewFlagSet("typed", flag.ExitOnError)
	flags.Parse(args)
	options := json.SerializerOptions{Strict: true}
	serializer := json.NewSerializerWithOptions(json.DefaultMetaFactory, builtin.Scheme, builtin.Scheme, options)
	return eachRequest(in, out, func(r request) (any, error) {
		err := guard(func() error {
			_, _, err := serializer.Decode([]byte(r.YAML), nil, nil)
			return err
		})
		answer := struct {
			ID string `json:"id"`
			typedAnswer
		}{ID: r.ID}
		if err != nil {
			answer.Error = err.Error()
		}
		return answer, nil
	})
}
