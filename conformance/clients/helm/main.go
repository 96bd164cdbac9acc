// Helm is the whole command of Helm 4.
package main

import (
	"errors"
	"fmt"
	"os"

	helm "helm.sh/helm/v4/pkg/cmd"
	"helm.sh/helm/v4/pkg/kube"
)

func main() {
	// Upstream's command sets the name of the manager, too; without it, the name of the program is used.
	kube.ManagedFieldsManager = "helm"
	// Flux's helm-controller has the same code under another name.
	if name := os.Getenv("KUBESHAPE_MANAGER"); name != "" {
		kube.ManagedFieldsManager = name
	}
	command, err := helm.NewRootCmd(os.Stdout, os.Args[1:], helm.SetupLogging)
	if err == nil {
		err = command.Execute()
	} else {
		fmt.Fprintln(os.Stderr, err)
	}
	var failed helm.CommandError
	switch {
	case errors.As(err, &failed):
		os.Exit(failed.ExitCode)
	case err != nil:
		os.Exit(1)
	}
}
