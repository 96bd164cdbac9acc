package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Webhook is what admission webhooks did.
type Webhook struct {
	// Mutated is set if a webhook changed an object.
	Mutated bool `json:"mutated"`
	// Denied is the message of a refused object.
	Denied string `json:"denied"`
	// Skipped is set if a match condition kept an object from the webhooks.
	Skipped bool `json:"skipped"`
}

func webhooks() envtest.WebhookInstallOptions {
	path := func(text string) *string { return &text }
	none, fail, equivalent := admissionv1.SideEffectClassNone, admissionv1.Fail, admissionv1.Equivalent
	rules := []admissionv1.RuleWithOperations{{
		Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
		Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}}
	conditions := []admissionv1.MatchCondition{{Name: "named", Expression: "object.metadata.name != 'free'"}}
	client := func(at string) admissionv1.WebhookClientConfig {
		return admissionv1.WebhookClientConfig{
			Service: &admissionv1.ServiceReference{Namespace: "default", Name: "webhooks", Path: path(at)},
		}
	}
	return envtest.WebhookInstallOptions{
		MutatingWebhooks: []*admissionv1.MutatingWebhookConfiguration{{
			ObjectMeta: metav1.ObjectMeta{Name: "mutating"},
			Webhooks: []admissionv1.MutatingWebhook{{
				Name: "mutating.example.com", ClientConfig: client("/mutate"), Rules: rules, SideEffects: &none,
				FailurePolicy: &fail, MatchPolicy: &equivalent, AdmissionReviewVersions: []string{"v1"},
				MatchConditions: conditions,
			}},
		}},
		ValidatingWebhooks: []*admissionv1.ValidatingWebhookConfiguration{{
			ObjectMeta: metav1.ObjectMeta{Name: "validating"},
			Webhooks: []admissionv1.ValidatingWebhook{{
				Name: "validating.example.com", ClientConfig: client("/validate"), Rules: rules, SideEffects: &none,
				FailurePolicy: &fail, MatchPolicy: &equivalent, AdmissionReviewVersions: []string{"v1"},
				MatchConditions: conditions,
			}},
		}},
	}
}

// mutate adds a key to ConfigMaps.
func mutate(_ context.Context, request admission.Request) admission.Response {
	var object corev1.ConfigMap
	if err := json.Unmarshal(request.Object.Raw, &object); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	object.Annotations = map[string]string{"mutated": request.UserInfo.Username}
	raw, err := json.Marshal(&object)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.PatchResponseFromRaw(request.Object.Raw, raw)
}

// validate refuses ConfigMaps with the key `bad`.
func validate(_ context.Context, request admission.Request) admission.Response {
	if strings.Contains(string(request.Object.Raw), `"bad"`) {
		return admission.Denied("it is bad")
	}
	return admission.Allowed("").WithWarnings("it is allowed")
}

func callWebhooks(ctx context.Context, environment *envtest.Environment, config *rest.Config) (found Webhook, err error) {
	options := environment.WebhookInstallOptions
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Metrics: server.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: options.LocalServingHost, Port: options.LocalServingPort, CertDir: options.LocalServingCertDir,
		}),
	})
	if err != nil {
		return found, err
	}
	hooks := manager.GetWebhookServer()
	hooks.Register("/mutate", &webhook.Admission{Handler: admission.HandlerFunc(mutate)})
	hooks.Register("/validate", &webhook.Admission{Handler: admission.HandlerFunc(validate)})
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(running) }()
	defer func() {
		stop()
		err = errors.Join(err, <-ended)
	}()
	for hooks.StartedChecker()(nil) != nil {
		select {
		case <-ctx.Done():
			return found, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return found, err
	}
	maps := client.CoreV1().ConfigMaps("default")
	create := func(name, key string) (*corev1.ConfigMap, error) {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{key: ""}}
		return maps.Create(ctx, object, metav1.CreateOptions{})
	}
	good, err := create("good", "good")
	if err != nil {
		return found, err
	}
	found.Mutated = good.Annotations["mutated"] == "admin"
	_, err = create("wrong", "bad")
	if !apierrors.IsForbidden(err) {
		return found, errors.Join(errors.New("expected a refusal"), err)
	}
	found.Denied = err.Error()
	free, err := create("free", "bad")
	if err != nil {
		return found, err
	}
	found.Skipped = free.Annotations["mutated"] == ""
	return found, nil
}
