// Command envtest starts a control plane with controller-runtime's envtest from the folder of KUBEBUILDER_ASSETS, and
// prints what works as one object.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
)

func main() {
	count := flag.Int("count", 200, "the number of CustomResourceDefinitions to install")
	flag.Parse()
	found, err := run(*count)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
