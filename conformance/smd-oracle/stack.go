package main

import (
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// stack is what a server has for a resource: for every version and subresource a field manager, as
// NewDefaultFieldManager builds it, with the types of one structured-merge-diff schema. Conversion between versions
// changes the apiVersion and drops the fields of `only`, nothing is defaulted, and the hub version is that of the
// request.
type stack struct {
	// types are the types of the kinds, by version and kind.
	types map[schema.GroupVersionKind]typed.ParseableType
	// resetFields are the fields that an endpoint does not own, by "apiVersion subresource".
	resetFields map[string]*fieldpath.Set
	// only are fields of the object and of its spec that one version has and conversion to the others drops.
	only map[string][]string
	// untyped handles kinds without a type.
	untyped managedfields.TypeConverter
}

func newStack(types map[schema.GroupVersionKind]typed.ParseableType, resetFields map[string]*fieldpath.Set) (*stack, error) {
	untyped, err := managedfields.NewTypeConverter(nil, false)
	if err != nil {
		return nil, err
	}
	return &stack{types: types, resetFields: resetFields, untyped: untyped}, nil
}

// ObjectToTyped implements managedfields.TypeConverter.
func (s *stack) ObjectToTyped(object runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	t, ok := s.types[object.GetObjectKind().GroupVersionKind()]
	if !ok {
		return s.untyped.ObjectToTyped(object, options...)
	}
	return t.FromUnstructured(object.(*unstructured.Unstructured).Object, options...)
}

// TypedToObject implements managedfields.TypeConverter.
func (s *stack) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	return s.untyped.TypedToObject(value)
}

// Convert implements runtime.ObjectConvertor.
func (s *stack) Convert(in, out, _ any) error {
	return fmt.Errorf("conversion of %T to %T was not expected", in, out)
}

// ConvertToVersion implements runtime.ObjectConvertor.
func (s *stack) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	kind, ok := target.KindForGroupVersionKinds([]schema.GroupVersionKind{in.GetObjectKind().GroupVersionKind()})
	version, isVersion := target.(schema.GroupVersion)
	if isVersion {
		kind, ok = version.WithKind(in.GetObjectKind().GroupVersionKind().Kind), true
	}
	if !ok {
		return nil, fmt.Errorf("no version to convert to")
	}
	out := in.DeepCopyObject()
	object := out.(*unstructured.Unstructured)
	object.SetAPIVersion(kind.GroupVersion().String())
	for version, names := range s.only {
		if version == object.GetAPIVersion() {
			continue
		}
		spec, _ := object.Object["spec"].(map[string]any)
		for _, name := range names {
			delete(object.Object, name)
			delete(spec, name)
		}
	}
	return out, nil
}

// ConvertFieldLabel implements runtime.ObjectConvertor.
func (s *stack) ConvertFieldLabel(schema.GroupVersionKind, string, string) (string, string, error) {
	return "", "", fmt.Errorf("no field labels")
}

// Default implements runtime.ObjectDefaulter.
func (s *stack) Default(runtime.Object) {}

// New implements runtime.ObjectCreater.
func (s *stack) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(kind)
	return object, nil
}

// manager is the field manager of a version and a subresource.
func (s *stack) manager(kind schema.GroupVersionKind, subresource string, crd bool) (*managedfields.FieldManager, error) {
	// The strategy of custom resources gives only the version of the endpoint (GetResetFields).
	filters := map[fieldpath.APIVersion]fieldpath.Filter{}
	for name, set := range s.resetFields {
		version, sub, _ := strings.Cut(name, " ")
		if sub == subresource && version == kind.GroupVersion().String() {
			filters[fieldpath.APIVersion(version)] = fieldpath.NewExcludeSetFilter(set)
		}
	}
	if crd {
		return managedfields.NewDefaultCRDFieldManager(s, s, s, s, kind, kind.GroupVersion(), subresource, filters)
	}
	return managedfields.NewDefaultFieldManager(s, s, s, s, kind, kind.GroupVersion(), subresource, filters)
}

// request is an apply or an update.
type request struct {
	apply       bool
	kind        schema.GroupVersionKind
	subresource string
	manager     string
	force       bool
	object      map[string]any
}

// serve runs a request on the live object; neither is changed.
func (s *stack) serve(live map[string]any, r request, crd bool) (map[string]any, error) {
	manager, err := s.manager(r.kind, r.subresource, crd)
	if err != nil {
		return nil, err
	}
	stored := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(live)}
	stored.SetAPIVersion(r.kind.GroupVersion().String())
	sent := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(r.object)}
	var after runtime.Object
	if r.apply {
		after, err = manager.Apply(stored, sent, r.manager, r.force)
	} else {
		after, err = manager.Update(stored, sent, r.manager)
	}
	if err != nil {
		return nil, err
	}
	return after.(*unstructured.Unstructured).Object, nil
}

// statusOf is the content of an API error except its message; nil for any other error. The causes are sorted: upstream
// walks managers in random order.
func statusOf(err error) any {
	status, ok := err.(apierrors.APIStatus)
	if !ok {
		return nil
	}
	out := record{"code": status.Status().Code, "reason": string(status.Status().Reason)}
	if details := status.Status().Details; details != nil && len(details.Causes) > 0 {
		causes := slices.Clone(details.Causes)
		slices.SortStableFunc(causes, func(a, b metav1.StatusCause) int {
			if a.Message != b.Message {
				return strings.Compare(a.Message, b.Message)
			}
			return strings.Compare(a.Field, b.Field)
		})
		out["causes"] = causes
	}
	return out
}
