// Runs the strategies of kube-apiserver's registries on objects of built-in kinds.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
	genericrequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/capabilities"

	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"

	mwc "k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingwebhookconfiguration"
	vap "k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicy"
	vapb "k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicybinding"
	vwc "k8s.io/kubernetes/pkg/registry/admissionregistration/validatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/apps/controllerrevision"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	hpa "k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/certificates/certificates"
	"k8s.io/kubernetes/pkg/registry/coordination/lease"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
	"k8s.io/kubernetes/pkg/registry/core/endpoint"
	"k8s.io/kubernetes/pkg/registry/core/event"
	"k8s.io/kubernetes/pkg/registry/core/limitrange"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/podtemplate"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
	"k8s.io/kubernetes/pkg/registry/core/resourcequota"
	"k8s.io/kubernetes/pkg/registry/core/secret"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/core/serviceaccount"
	"k8s.io/kubernetes/pkg/registry/discovery/endpointslice"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/flowschema"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/prioritylevelconfiguration"
	"k8s.io/kubernetes/pkg/registry/networking/ingress"
	"k8s.io/kubernetes/pkg/registry/networking/ingressclass"
	"k8s.io/kubernetes/pkg/registry/networking/ipaddress"
	"k8s.io/kubernetes/pkg/registry/networking/networkpolicy"
	"k8s.io/kubernetes/pkg/registry/networking/servicecidr"
	"k8s.io/kubernetes/pkg/registry/node/runtimeclass"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrole"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding"
	"k8s.io/kubernetes/pkg/registry/rbac/role"
	"k8s.io/kubernetes/pkg/registry/rbac/rolebinding"
	"k8s.io/kubernetes/pkg/registry/resource/deviceclass"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaim"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaimtemplate"
	"k8s.io/kubernetes/pkg/registry/resource/resourceslice"
	"k8s.io/kubernetes/pkg/registry/scheduling/priorityclass"
	"k8s.io/kubernetes/pkg/registry/storage/csidriver"
	"k8s.io/kubernetes/pkg/registry/storage/csinode"
	"k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity"
	"k8s.io/kubernetes/pkg/registry/storage/storageclass"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattachment"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattributesclass"
)

type strategy interface {
	rest.RESTCreateStrategy
	rest.RESTUpdateStrategy
}

var resourceClaim = resourceclaim.NewStrategy(nil, nil)
var policy = vap.NewStrategy(nil, nil)

// The strategies of objects, and of their status.
var kinds = map[string][2]any{
	"MutatingWebhookConfiguration":     {mwc.Strategy, nil},
	"ValidatingAdmissionPolicy":        {policy, vap.NewStatusStrategy(policy)},
	"ValidatingAdmissionPolicyBinding": {vapb.NewStrategy(nil, nil, nil), nil},
	"ValidatingWebhookConfiguration":   {vwc.Strategy, nil},
	"ControllerRevision":               {controllerrevision.Strategy, nil},
	"DaemonSet":                        {daemonset.Strategy, daemonset.StatusStrategy},
	"Deployment":                       {deployment.Strategy, deployment.StatusStrategy},
	"ReplicaSet":                       {replicaset.Strategy, replicaset.StatusStrategy},
	"StatefulSet":                      {statefulset.Strategy, statefulset.StatusStrategy},
	"HorizontalPodAutoscaler":          {hpa.Strategy, hpa.StatusStrategy},
	"CronJob":                          {cronjob.Strategy, cronjob.StatusStrategy},
	"Job":                              {job.Strategy, job.StatusStrategy},
	"CertificateSigningRequest":        {certificates.Strategy, certificates.StatusStrategy},
	"Lease":                            {lease.Strategy, nil},
	"ConfigMap":                        {configmap.Strategy, nil},
	"Endpoints":                        {endpoint.Strategy, nil},
	"Event":                            {event.Strategy, nil},
	"LimitRange":                       {limitrange.Strategy, nil},
	"Namespace":                        {namespace.Strategy, namespace.StatusStrategy},
	"Node":                             {node.Strategy, node.StatusStrategy},
	"PersistentVolume":                 {persistentvolume.Strategy, persistentvolume.StatusStrategy},
	"PersistentVolumeClaim":            {persistentvolumeclaim.Strategy, persistentvolumeclaim.StatusStrategy},
	"Pod":                              {pod.Strategy, pod.StatusStrategy},
	"PodTemplate":                      {podtemplate.Strategy, nil},
	"ReplicationController":            {replicationcontroller.Strategy, replicationcontroller.StatusStrategy},
	"ResourceQuota":                    {resourcequota.Strategy, resourcequota.StatusStrategy},
	"Secret":                           {secret.Strategy, nil},
	"Service":                          {service.Strategy, service.StatusStrategy},
	"ServiceAccount":                   {serviceaccount.Strategy, nil},
	"EndpointSlice":                    {endpointslice.Strategy, nil},
	"FlowSchema":                       {flowschema.Strategy, flowschema.StatusStrategy},
	"PriorityLevelConfiguration":       {prioritylevelconfiguration.Strategy, prioritylevelconfiguration.StatusStrategy},
	"Ingress":                          {ingress.Strategy, ingress.StatusStrategy},
	"IngressClass":                     {ingressclass.Strategy, nil},
	"IPAddress":                        {ipaddress.Strategy, nil},
	"NetworkPolicy":                    {networkpolicy.Strategy, nil},
	"ServiceCIDR":                      {servicecidr.Strategy, servicecidr.StatusStrategy},
	"RuntimeClass":                     {runtimeclass.Strategy, nil},
	"PodDisruptionBudget":              {poddisruptionbudget.Strategy, poddisruptionbudget.StatusStrategy},
	"ClusterRole":                      {clusterrole.Strategy, nil},
	"ClusterRoleBinding":               {clusterrolebinding.Strategy, nil},
	"Role":                             {role.Strategy, nil},
	"RoleBinding":                      {rolebinding.Strategy, nil},
	"DeviceClass":                      {deviceclass.Strategy, nil},
	"ResourceClaim":                    {resourceClaim, resourceclaim.NewStatusStrategy(resourceClaim)},
	"ResourceClaimTemplate":            {resourceclaimtemplate.NewStrategy(nil), nil},
	"ResourceSlice":                    {resourceslice.Strategy, nil},
	"PriorityClass":                    {priorityclass.Strategy, nil},
	"CSIDriver":                        {csidriver.Strategy, nil},
	"CSINode":                          {csinode.Strategy, nil},
	"CSIStorageCapacity":               {csistoragecapacity.Strategy, nil},
	"StorageClass":                     {storageclass.Strategy, nil},
	"VolumeAttachment":                 {volumeattachment.Strategy, volumeattachment.StatusStrategy},
	"VolumeAttributesClass":            {volumeattributesclass.Strategy, nil},
}

type line struct {
	ID      string  `json:"id"`
	Request request `json:"request"`
}

type request struct {
	Group       string          `json:"group"`
	Version     string          `json:"version"`
	Kind        string          `json:"kind"`
	Subresource string          `json:"subresource,omitempty"`
	Old         json.RawMessage `json:"old,omitempty"`
	Object      json.RawMessage `json:"object"`
}

type cause struct {
	Type   string `json:"type"`
	Field  string `json:"field"`
	Detail string `json:"detail"`
	Text   string `json:"text,omitempty"`
}

type answer struct {
	ID       string          `json:"id"`
	Code     int32           `json:"code"`
	Message  string          `json:"message,omitempty"`
	Errors   []cause         `json:"errors,omitempty"`
	Warnings []string        `json:"warnings,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`
	Panic    string          `json:"panic,omitempty"`
}

type recorder struct{ texts []string }

func (r *recorder) AddWarning(_, text string) { r.texts = append(r.texts, text) }

func decode(gv schema.GroupVersion, kind string, data []byte) (runtime.Object, error) {
	gvk := gv.WithKind(kind)
	codec := legacyscheme.Codecs.UniversalDecoder(schema.GroupVersion{Group: gv.Group, Version: runtime.APIVersionInternal})
	object, _, err := codec.Decode(data, &gvk, nil)
	return object, err
}

func ask(id string, r request) (a answer) {
	a.ID = id
	defer func() {
		if p := recover(); p != nil {
			a = answer{ID: id, Panic: fmt.Sprint(p)}
		}
	}()
	gv := schema.GroupVersion{Group: r.Group, Version: r.Version}
	object, err := decode(gv, r.Kind, r.Object)
	if err != nil {
		a.Code, a.Message = 400, err.Error()
		return
	}
	pair := kinds[r.Kind]
	which := pair[0]
	if r.Subresource != "" {
		which = pair[1]
	}
	plural, _ := meta.UnsafeGuessKindToResource(gv.WithKind(r.Kind))
	ctx := genericrequest.WithUser(context.Background(), &user.DefaultInfo{Name: "admin", UID: "admin-uid", Groups: []string{"system:masters", "system:authenticated"}})
	info := &genericrequest.RequestInfo{IsResourceRequest: true, APIGroup: r.Group, APIVersion: r.Version, Resource: plural.Resource, Subresource: r.Subresource, Verb: "create"}
	// Defaults can share maps with each other; handlers of a server copy the object.
	object = object.DeepCopyObject()
	accessor, err := meta.Accessor(object)
	if err != nil {
		a.Code, a.Message = 400, err.Error()
		return
	}
	recorded := &recorder{}
	ctx = warning.WithWarningRecorder(ctx, recorded)
	var old runtime.Object
	if len(r.Old) > 0 {
		if old, err = decode(gv, r.Kind, r.Old); err != nil {
			a.Code, a.Message = 599, err.Error()
			return
		}
	}
	var failed error
	ctx = genericrequest.WithNamespace(ctx, metav1.NamespaceNone)
	namespaced := which.(rest.NamespaceScopedStrategy).NamespaceScoped()
	if old == nil {
		if namespaced {
			if accessor.GetNamespace() == "" {
				accessor.SetNamespace("default")
			}
			ctx = genericrequest.WithNamespace(ctx, accessor.GetNamespace())
		}
		ctx = genericrequest.WithRequestInfo(ctx, info)
		rest.FillObjectMetaSystemFields(accessor)
		accessor.SetUID("00000000-0000-4000-8000-000000000001")
		failed = rest.BeforeCreate(which.(rest.RESTCreateStrategy), ctx, object)
	} else {
		before, _ := meta.Accessor(old)
		set := func(o metav1.Object) {
			if o.GetResourceVersion() == "" {
				o.SetResourceVersion("1")
			}
			if o.GetUID() == "" {
				o.SetUID(types.UID("00000000-0000-4000-8000-000000000001"))
			}
			if namespaced && o.GetNamespace() == "" {
				o.SetNamespace("default")
			}
		}
		set(before)
		set(accessor)
		if namespaced {
			ctx = genericrequest.WithNamespace(ctx, before.GetNamespace())
		}
		info.Verb = "update"
		info.Name, info.Namespace = before.GetName(), before.GetNamespace()
		ctx = genericrequest.WithRequestInfo(ctx, info)
		failed = rest.BeforeUpdate(which.(rest.RESTUpdateStrategy), ctx, object, old)
	}
	a.Warnings = recorded.texts
	if failed != nil {
		a.Code, a.Message = 500, failed.Error()
		if status, ok := failed.(errors.APIStatus); ok {
			s := status.Status()
			a.Code = s.Code
			if s.Details != nil {
				for _, c := range s.Details.Causes {
					a.Errors = append(a.Errors, cause{Type: string(c.Type), Field: c.Field, Text: c.Message})
				}
			}
		}
		return
	}
	a.Code = 200
	if old == nil {
		a.Code = 201
	}
	out, err := readAgain(gv, object)
	if err != nil {
		a.Message = err.Error()
	}
	a.Result = out
	return
}

// The object as it is read after it was stored, in JSON.
func readAgain(gv schema.GroupVersion, object runtime.Object) ([]byte, error) {
	serializer := protobuf.NewSerializer(legacyscheme.Scheme, legacyscheme.Scheme)
	internal := schema.GroupVersion{Group: gv.Group, Version: runtime.APIVersionInternal}
	// Autoscalers are stored in version v2.
	storage := gv
	if gv.Group == "autoscaling" {
		storage.Version = "v2"
	}
	codec := legacyscheme.Codecs.CodecForVersions(serializer, serializer, storage, internal)
	stored, err := runtime.Encode(codec, object)
	if err != nil {
		return nil, err
	}
	read, err := runtime.Decode(codec, stored)
	if err != nil {
		return nil, err
	}
	return runtime.Encode(legacyscheme.Codecs.LegacyCodec(gv), read)
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "types" {
		printTypes(os.Stdout)
		return
	}
	// Declarative validation logs differences from the rules in Go.
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	capabilities.Initialize(capabilities.Capabilities{AllowPrivileged: true})
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<28)
	out := bufio.NewWriter(os.Stdout)
	for in.Scan() {
		var asked line
		if err := json.Unmarshal(in.Bytes(), &asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		line, _ := json.Marshal(ask(asked.ID, asked.Request))
		out.Write(append(line, '\n'))
		out.Flush()
	}
}
