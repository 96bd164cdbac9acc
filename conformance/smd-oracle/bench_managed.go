package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	kyaml "sigs.k8s.io/yaml"
)

// managedEntries are five managers of a large object, one applying and four updating, with upstream's recorded sets.
func (f *benchFolder) managedEntries() ([]metav1.ManagedFieldsEntry, error) {
	var entries []metav1.ManagedFieldsEntry
	for i, name := range []string{"podset", "nodeset", "endpointsset", "prometheus-crdset", "podset"} {
		text, err := f.read(name + ".json")
		if err != nil {
			return nil, err
		}
		set := fieldpath.NewSet()
		if err := set.FromJSON(bytes.NewReader(text)); err != nil {
			return nil, err
		}
		if text, err = set.ToJSON(); err != nil {
			return nil, err
		}
		at := metav1.NewTime(time.Date(2000, 1, 1, 0, 0, i, 0, time.UTC))
		entry := metav1.ManagedFieldsEntry{
			Manager: fmt.Sprintf("manager-%d", i), Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1",
			Time: &at, FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: text},
		}
		if i == 0 {
			entry.Operation = metav1.ManagedFieldsOperationApply
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

// managedFields are decoding and encoding managedFields, and requests through the whole stack of a server.
func (f *benchFolder) managedFields() []bench {
	add := func(name string, make func(entries []metav1.ManagedFieldsEntry) (func(int) error, error)) bench {
		return bench{"ManagedFields/" + name, func() (func(int) error, error) {
			entries, err := f.managedEntries()
			if err != nil {
				return nil, err
			}
			return make(entries)
		}}
	}
	all := []bench{
		add("Decode", func(entries []metav1.ManagedFieldsEntry) (func(int) error, error) {
			return func(int) error { return managedfields.ValidateManagedFields(entries) }, nil
		}),
		add("DecodeEncode", func(entries []metav1.ManagedFieldsEntry) (func(int) error, error) {
			version := schema.GroupVersion{Version: "v1"}
			// Without a path for replicas, every entry is decoded and encoded unchanged.
			mappings := managedfields.ResourcePathMappings{"v1": nil}
			return func(int) error {
				_, err := managedfields.NewScaleHandler(entries, version, mappings).ToParent(nil)
				return err
			}, nil
		}),
		add("FromJSON", func(entries []metav1.ManagedFieldsEntry) (func(int) error, error) {
			text, err := json.Marshal(entries)
			return func(int) error {
				var read []metav1.ManagedFieldsEntry
				if err := json.Unmarshal(text, &read); err != nil {
					return err
				}
				return managedfields.ValidateManagedFields(read)
			}, err
		}),
	}
	for _, o := range []struct{ name, typeName, file, version, kind string }{
		{"Pod", "io.k8s.api.core.v1.Pod", "pod.yaml", "v1", "Pod"},
		{"Node", "io.k8s.api.core.v1.Node", "node.yaml", "v1", "Node"},
		{"Endpoints", "io.k8s.api.core.v1.Endpoints", "endpoints.yaml", "v1", "Endpoints"},
	} {
		all = append(all, f.requests(o.name, benchObject{o.name, "k8s-schema.yaml" + trackedSuffix, o.typeName, o.file}, o.version, o.kind)...)
	}
	return all
}

// requests are requests through the whole stack on one object, which has been created by one manager and applied by
// another before, except for the first two.
func (f *benchFolder) requests(name string, o benchObject, version, kind string) []bench {
	prepare := func(make func(s *stack, object, live map[string]any, r request) func(int) error) func() (func(int) error, error) {
		return func() (func(int) error, error) {
			t, text, err := f.open(o)
			if err != nil {
				return nil, err
			}
			object := map[string]any{}
			if err := kyaml.Unmarshal([]byte(text), &object); err != nil {
				return nil, err
			}
			object = withIntegers(object).(map[string]any)
			object["apiVersion"], object["kind"] = version, kind
			gv, err := schema.ParseGroupVersion(version)
			if err != nil {
				return nil, err
			}
			gvk := gv.WithKind(kind)
			s, err := newStack(map[schema.GroupVersionKind]typed.ParseableType{gvk: t}, nil)
			if err != nil {
				return nil, err
			}
			r := request{kind: gvk, manager: "creator", object: object}
			empty := map[string]any{"apiVersion": version, "kind": kind}
			live, err := s.serve(empty, r, false)
			if err != nil {
				return nil, err
			}
			r.apply, r.manager = true, "applier"
			if live, err = s.serve(live, r, false); err != nil {
				return nil, err
			}
			return make(s, object, live, r), nil
		}
	}
	serve := func(s *stack, live map[string]any, r request) func(int) error {
		return func(int) error {
			_, err := s.serve(live, r, false)
			return err
		}
	}
	return []bench{
		{"Server/" + name + "/Create", prepare(func(s *stack, object, _ map[string]any, r request) func(int) error {
			r.apply = false
			return serve(s, map[string]any{"apiVersion": version, "kind": kind}, r)
		})},
		{"Server/" + name + "/ApplyCreate", prepare(func(s *stack, _, _ map[string]any, r request) func(int) error {
			return serve(s, map[string]any{"apiVersion": version, "kind": kind}, r)
		})},
		{"Server/" + name + "/ApplyNoop", prepare(func(s *stack, _, live map[string]any, r request) func(int) error {
			return serve(s, live, r)
		})},
		{"Server/" + name + "/ApplyChange", prepare(func(s *stack, object, live map[string]any, r request) func(int) error {
			r.object = withLabel(object, "round", "1")
			return serve(s, live, r)
		})},
		{"Server/" + name + "/Update", prepare(func(s *stack, _, live map[string]any, r request) func(int) error {
			r.apply, r.manager, r.object = false, "other", withLabel(live, "round", "1")
			return serve(s, live, r)
		})},
		{"Server/" + name + "/UpdateNoop", prepare(func(s *stack, _, live map[string]any, r request) func(int) error {
			r.apply, r.manager, r.object = false, "other", live
			return serve(s, live, r)
		})},
	}
}

// withLabel is a copy of an object with one more label.
func withLabel(object map[string]any, key, text string) map[string]any {
	out := runtime.DeepCopyJSON(object)
	metadata, _ := out["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		out["metadata"] = metadata
	}
	labels, _ := metadata["labels"].(map[string]any)
	if labels == nil {
		labels = map[string]any{}
		metadata["labels"] = labels
	}
	labels[key] = text
	return out
}

// withIntegers is a value as apimachinery reads JSON: numbers that are integers are int64.
func withIntegers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			v[key] = withIntegers(item)
		}
	case []any:
		for i, item := range v {
			v[i] = withIntegers(item)
		}
	case float64:
		if i := int64(v); float64(i) == v && v > -1e18 && v < 1e18 {
			return i
		}
	}
	return v
}
