// Package options has the options of kube-apiserver that tests set.
package options

import (
	"strings"
	"time"

	"k8s.io/apiserver/pkg/storage/storagebackend"
	cliflag "k8s.io/component-base/cli/flag"
)

// EtcdOptions are the options of the storage. Only the prefix has an effect: it is the file of objects.
type EtcdOptions struct {
	StorageConfig        storagebackend.Config
	EtcdServersOverrides []string
	EnableWatchCache     bool
}

// ServerRunOptions are the options.
type ServerRunOptions struct {
	Admission struct {
		GenericAdmission struct{ EnablePlugins, DisablePlugins []string }
	}
	APIEnablement struct{ RuntimeConfig cliflag.ConfigurationMap }
	Authorization struct {
		Modes                       []string
		WebhookConfigFile           string
		WebhookVersion              string
		WebhookCacheAuthorizedTTL   time.Duration
		WebhookCacheUnauthorizedTTL time.Duration
	}
	Etcd                    *EtcdOptions
	GenericServerRunOptions struct{ MaxRequestBodyBytes int64 }
}

// NewServerRunOptions returns options that a test can set.
func NewServerRunOptions() *ServerRunOptions {
	options := &ServerRunOptions{Etcd: &EtcdOptions{}}
	options.APIEnablement.RuntimeConfig = cliflag.ConfigurationMap{}
	return options
}

// Flags returns the options as flags.
func (o *ServerRunOptions) Flags() []string {
	var flags []string
	if plugins := o.Admission.GenericAdmission.EnablePlugins; len(plugins) > 0 {
		flags = append(flags, "--enable-admission-plugins", strings.Join(plugins, ","))
	}
	if plugins := o.Admission.GenericAdmission.DisablePlugins; len(plugins) > 0 {
		flags = append(flags, "--disable-admission-plugins", strings.Join(plugins, ","))
	}
	if modes := o.Authorization.Modes; len(modes) > 0 {
		flags = append(flags, "--authorization-mode", strings.Join(modes, ","))
	}
	if file := o.Authorization.WebhookConfigFile; file != "" {
		flags = append(flags, "--authorization-webhook-config-file", file)
	}
	return flags
}
