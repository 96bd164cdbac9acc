package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"runtime"
	"sync"
	"syscall"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
)

// benchPoliciesResult is the best round: the time of all requests, and the processor time of the process.
type benchPoliciesResult struct {
	Wall float64 `json:"wall_ms"`
	CPU  float64 `json:"cpu_ms"`
}

// runBenchPolicies measures the plugin ValidatingAdmissionPolicy. The first line has the policies, bindings and the
// ConfigMap that every request creates.
func runBenchPolicies(args []string, in io.Reader, out *bufio.Writer) error {
	flags := flag.NewFlagSet("bench-policies", flag.ExitOnError)
	requests := flags.Int("requests", 10_000, "requests of a round")
	threads := flags.Int("j", 2, "threads")
	rounds := flags.Int("rounds", 5, "rounds; the best is printed")
	flags.Parse(args)
	runtime.GOMAXPROCS(*threads)
	var input struct {
		Policies []*admissionregistrationv1.ValidatingAdmissionPolicy
		Bindings []*admissionregistrationv1.ValidatingAdmissionPolicyBinding
		Object   *corev1.ConfigMap
	}
	if err := json.NewDecoder(in).Decode(&input); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	plugin, err := policyPlugin(ctx, input.Policies, input.Bindings)
	if err != nil {
		return err
	}
	interfaces := admission.NewObjectInterfacesFromScheme(clientscheme.Scheme)
	administrator := &user.DefaultInfo{Name: "kubernetes-admin", Groups: []string{"system:masters", "system:authenticated"}}
	kind := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	resource := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	request := func() error {
		object := input.Object
		attributes := admission.NewAttributesRecord(object, nil, kind, object.Namespace, object.Name, resource, "",
			admission.Create, &metav1.CreateOptions{}, false, administrator)
		return plugin.Validate(ctx, attributes, interfaces)
	}
	best := benchPoliciesResult{Wall: math.Inf(1), CPU: math.Inf(1)}
	for range *rounds {
		before, start := processorTime(), time.Now()
		failures := make([]error, *threads)
		var group sync.WaitGroup
		for thread := range *threads {
			group.Go(func() {
				for range *requests / *threads {
					if err := request(); err != nil {
						failures[thread] = err
						return
					}
				}
			})
		}
		group.Wait()
		for _, err := range failures {
			if err != nil {
				return fmt.Errorf("an object is refused: %w", err)
			}
		}
		best.Wall = min(best.Wall, float64(time.Since(start).Microseconds())/1e3)
		best.CPU = min(best.CPU, float64((processorTime()-before).Microseconds())/1e3)
	}
	return json.NewEncoder(out).Encode(best)
}

// policyPlugin returns the plugin after it has read all policies.
func policyPlugin(
	ctx context.Context,
	policies []*admissionregistrationv1.ValidatingAdmissionPolicy,
	bindings []*admissionregistrationv1.ValidatingAdmissionPolicyBinding,
) (*validating.Plugin, error) {
	client := fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}})
	for _, policy := range policies {
		// What the server's defaults add.
		all, fail, scope := admissionregistrationv1.Equivalent, admissionregistrationv1.Fail, admissionregistrationv1.AllScopes
		policy.Spec.FailurePolicy = &fail
		policy.Spec.MatchConstraints.MatchPolicy = &all
		policy.Spec.MatchConstraints.NamespaceSelector = &metav1.LabelSelector{}
		policy.Spec.MatchConstraints.ObjectSelector = &metav1.LabelSelector{}
		for index := range policy.Spec.MatchConstraints.ResourceRules {
			policy.Spec.MatchConstraints.ResourceRules[index].Scope = &scope
		}
		if err := client.Tracker().Add(policy); err != nil {
			return nil, err
		}
	}
	for _, binding := range bindings {
		if err := client.Tracker().Add(binding); err != nil {
			return nil, err
		}
	}
	plugin, err := validating.NewPlugin(nil)
	if err != nil {
		return nil, err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, meta.RESTScopeNamespace)
	plugin.SetExternalKubeInformerFactory(factory)
	plugin.SetExternalKubeClientSet(client)
	plugin.SetRESTMapper(mapper)
	plugin.SetDynamicClient(dynamicfake.NewSimpleDynamicClient(clientscheme.Scheme))
	plugin.SetDrainedNotification(ctx.Done())
	plugin.SetAuthorizer(authorizerfactory.NewAlwaysAllowAuthorizer())
	if err := plugin.ValidateInitialization(); err != nil {
		return nil, err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if !plugin.WaitForReady() {
		return nil, fmt.Errorf("the plugin is not ready")
	}
	return plugin, nil
}

// processorTime is the time that the process has used, garbage collection included.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
