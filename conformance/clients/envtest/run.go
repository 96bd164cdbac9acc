package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Found is what works.
type Found struct {
	// StartMilliseconds is the time from the start of both programs until the namespace `default` can be read. envtest
	// waits 100 ms between two checks of a program.
	StartMilliseconds int64 `json:"startMilliseconds"`
	// InstallMilliseconds is the time to install the definitions.
	InstallMilliseconds int64 `json:"installMilliseconds"`
	// Admin is set if the user of the environment is in system:masters.
	Admin bool `json:"admin"`
	// Forbidden is the message for a user without permissions.
	Forbidden string `json:"forbidden"`
	// Permitted is set if a binding permits what it should.
	Permitted bool `json:"permitted"`
	// Impersonated is set if the administrator can act as another user.
	Impersonated bool `json:"impersonated"`
	// Token is set if a token of a service account is accepted, and no longer when the account is deleted.
	Token bool `json:"token"`
	// Webhook is what admission webhooks of a manager did.
	Webhook Webhook `json:"webhook"`
}

func run(count int) (found *Found, err error) {
	log.SetLogger(logr.Discard())
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	environment := &envtest.Environment{WebhookInstallOptions: webhooks()}
	found = &Found{}
	began := time.Now()
	config, err := environment.Start()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, environment.Stop()) }()
	found.StartMilliseconds = time.Since(began).Milliseconds()
	began = time.Now()
	if _, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{CRDs: definitions(count)}); err != nil {
		return nil, err
	}
	found.InstallMilliseconds = time.Since(began).Milliseconds()
	admin, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	user, err := whoami(ctx, admin)
	if err != nil {
		return nil, err
	}
	for _, group := range user.Groups {
		found.Admin = found.Admin || (user.Username == "admin" && group == "system:masters")
	}
	if err := permissions(ctx, environment, admin, config, found); err != nil {
		return nil, fmt.Errorf("permissions: %w", err)
	}
	if err := tokens(ctx, admin, config, found); err != nil {
		return nil, fmt.Errorf("tokens: %w", err)
	}
	if found.Webhook, err = callWebhooks(ctx, environment, config); err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	return found, nil
}

func whoami(ctx context.Context, client kubernetes.Interface) (*authenticationv1.UserInfo, error) {
	review, err := client.AuthenticationV1().SelfSubjectReviews().
		Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	return &review.Status.UserInfo, nil
}

func definitions(count int) []*apiextensionsv1.CustomResourceDefinition {
	preserve := true
	all := make([]*apiextensionsv1.CustomResourceDefinition, count)
	for n := range all {
		plural, kind := fmt.Sprintf("tab%ds", n), fmt.Sprintf("Tab%d", n)
		properties := map[string]apiextensionsv1.JSONSchemaProps{
			"spec":   {Type: "object", XPreserveUnknownFields: &preserve},
			"status": {Type: "object", XPreserveUnknownFields: &preserve},
		}
		all[n] = &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: plural + ".example.com"},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group: "example.com",
				Scope: apiextensionsv1.NamespaceScoped,
				Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: kind},
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
					Name: "v1", Served: true, Storage: true,
					Schema: &apiextensionsv1.CustomResourceValidation{
						OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: properties},
					},
				}},
			},
		}
	}
	return all
}

func permissions(
	ctx context.Context, environment *envtest.Environment, admin kubernetes.Interface, config *rest.Config, found *Found,
) error {
	jane, err := environment.AddUser(envtest.User{Name: "jane", Groups: []string{"dev"}}, nil)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(jane.Config())
	if err != nil {
		return err
	}
	_, err = client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
	if !apierrors.IsForbidden(err) {
		return fmt.Errorf("expected a refusal, got %v", err)
	}
	found.Forbidden = err.Error()
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		Rules:      []rbacv1.PolicyRule{{Verbs: []string{"list"}, APIGroups: []string{""}, Resources: []string{"pods"}}},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects:   []rbacv1.Subject{{Kind: "Group", APIGroup: rbacv1.GroupName, Name: "dev"}},
	}
	roles := admin.RbacV1()
	if _, err := roles.Roles("default").Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := roles.RoleBindings("default").Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{}); err != nil {
		return err
	}
	_, err = client.CoreV1().Pods("kube-system").List(ctx, metav1.ListOptions{})
	found.Permitted = apierrors.IsForbidden(err)
	other := rest.CopyConfig(config)
	other.Impersonate = rest.ImpersonationConfig{UserName: "joe", Groups: []string{"dev"}}
	joe, err := kubernetes.NewForConfig(other)
	if err != nil {
		return err
	}
	if _, err := joe.CoreV1().Pods("default").List(ctx, metav1.ListOptions{}); err != nil {
		return err
	}
	user, err := whoami(ctx, joe)
	if err != nil {
		return err
	}
	found.Impersonated = user.Username == "joe"
	return nil
}

func tokens(ctx context.Context, admin kubernetes.Interface, config *rest.Config, found *Found) error {
	accounts := admin.CoreV1().ServiceAccounts("default")
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}
	if _, err := accounts.Create(ctx, account, metav1.CreateOptions{}); err != nil {
		return err
	}
	request, err := accounts.CreateToken(ctx, "robot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	other := rest.AnonymousClientConfig(config)
	other.BearerToken = request.Status.Token
	client, err := kubernetes.NewForConfig(other)
	if err != nil {
		return err
	}
	user, err := whoami(ctx, client)
	if err != nil {
		return err
	}
	if err := accounts.Delete(ctx, "robot", metav1.DeleteOptions{}); err != nil {
		return err
	}
	_, err = whoami(ctx, client)
	found.Token = user.Username == "system:serviceaccount:default:robot" && apierrors.IsUnauthorized(err)
	return nil
}
