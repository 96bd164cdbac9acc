package main

import (
	"bytes"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/kubectl/pkg/cmd/apiresources"
	"k8s.io/kubectl/pkg/cmd/explain"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/cmd/version"
	_ "sigs.k8s.io/kustomize/kustomize/v5/commands/build" // kubectl prints its version
)

// Call is a call of kubectl.
type Call struct {
	Args []string `json:"args"`
}

// Outcome is the output of a call and how it ended.
type Outcome struct {
	Args   []string `json:"args"`
	Exit   int      `json:"exit"`
	Stdout string   `json:"stdout"`
	Stderr string   `json:"stderr"`
}

// exit unwinds a command that would have ended the process.
type exit int

// kubectl runs one command of kubectl in this process, created like in a process of its own. It has only the commands
// that read a server's schema: the whole command tree takes far longer to compile.
func kubectl(server, cache string, args []string) (outcome Outcome) {
	var stdout, stderr bytes.Buffer
	outcome.Args = args
	cmdutil.BehaviorOnFatal(func(message string, code int) {
		if message != "" {
			fmt.Fprint(&stderr, message)
			if message[len(message)-1] != '\n' {
				fmt.Fprintln(&stderr)
			}
		}
		panic(exit(code))
	})
	defer func() {
		if reason := recover(); reason != nil {
			code, ended := reason.(exit)
			if !ended {
				panic(reason)
			}
			outcome.Exit = int(code)
		}
		outcome.Stdout, outcome.Stderr = stdout.String(), stderr.String()
	}()
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &stdout, ErrOut: &stderr}
	command := root(server, cache, streams)
	command.SetArgs(args)
	command.SetOut(&stdout)
	command.SetErr(&stderr)
	cmdutil.CheckErr(command.Execute())
	return outcome
}

// root is the command with the global flags as kubectl creates them.
func root(server, cache string, streams genericiooptions.IOStreams) *cobra.Command {
	flags := genericclioptions.NewConfigFlags(true).
		WithDeprecatedPasswordFlag().
		WithDiscoveryBurst(300).
		WithDiscoveryQPS(50)
	caches := filepath.Join(cache, "kubectl")
	flags.APIServer, flags.CacheDir = &server, &caches
	command := &cobra.Command{Use: "kubectl", SilenceErrors: true, SilenceUsage: true}
	command.SetGlobalNormalizationFunc(cliflag.WordSepNormalizeFunc)
	flags.AddFlags(command.PersistentFlags())
	command.PersistentFlags().Bool("warnings-as-errors", false, "")
	matching := cmdutil.NewMatchVersionFlags(flags)
	matching.AddFlags(command.PersistentFlags())
	factory := cmdutil.NewFactory(matching)
	command.AddCommand(
		apiresources.NewCmdAPIResources(factory, streams),
		apiresources.NewCmdAPIVersions(factory, streams),
		explain.NewCmdExplain("kubectl", factory, streams),
		version.NewCmdVersion(factory, streams),
	)
	return command
}
