// Package options has the options of kube-apiserver that tests of admission policies set.
package options

import (
	"strings"
	"time"

	cliflag "k8s.io/component-base/cli/flag"
)

// ServerRunOptions are the options.
type ServerRunOptions struct {
	Admission struct {
		GenericAdmission struct{ EnablePlugins []string }
	}
	APIEnablement struct{ RuntimeConfig cliflag.ConfigurationMap }
	Authorization struct {
		Modes                       []string
		WebhookConfigFile           string
		WebhookVersion              string
		WebhookCacheAuthorizedTTL   time.Duration
		WebhookCacheUnauthorizedTTL time.Duration
	}
}

// NewServerRunOptions returns options that a test can set.
func NewServerRunOptions() *ServerRunOptions {
	options := &ServerRunOptions{}
	options.APIEnablement.RuntimeConfig = cliflag.ConfigurationMap{}
	return options
}

// Flags returns the options as flags.
func (o *ServerRunOptions) Flags() []string {
	var flags []string
	if plugins := o.Admission.GenericAdmission.EnablePlugins; len(plugins) > 0 {
		flags = append(flags, "--enable-admission-plugins", strings.Join(plugins, ","))
	}
	if modes := o.Authorization.Modes; len(modes) > 0 {
		flags = append(flags, "--authorization-mode", strings.Join(modes, ","))
	}
	if file := o.Authorization.WebhookConfigFile; file != "" {
		flags = append(flags, "--authorization-webhook-config-file", file)
	}
	return flags
}
