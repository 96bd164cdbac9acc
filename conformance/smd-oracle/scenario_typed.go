package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// typedStep is a step of a scenario on typed values.
type typedStep struct {
	s        *scenario
	number   int
	typeName string
	t        typed.ParseableType
}

// find determines the type: the named one, or that of the first object with a known kind.
func (t *typedStep) find(objects ...any) error {
	for _, object := range objects {
		if t.typeName != "" {
			break
		}
		o, _ := object.(map[string]any)
		version, _ := o["apiVersion"].(string)
		kind, _ := o["kind"].(string)
		if gv, err := schema.ParseGroupVersion(version); err == nil {
			t.typeName = t.s.kinds[gv.WithKind(kind)]
		}
	}
	t.t = t.s.parser.Type(t.typeName)
	if !t.t.IsValid() {
		return fmt.Errorf("no type %q", t.typeName)
	}
	return nil
}

func (t *typedStep) record(kind string, members record) {
	members["kind"], members["test"], members["seq"], members["source"] = kind, t.s.test, t.number, "corpus"
	t.s.records = append(t.s.records, members)
}

// recorded is a value in the form of records.
func (t *typedStep) recorded(object any, there bool) record {
	r := record{"schema": t.s.schemaID, "type": record{"namedType": t.typeName}}
	if there {
		r["value"] = object
	}
	return r
}

// typed gives a value its type, or records that it does not match the type.
func (t *typedStep) typed(object any, there bool, options ...typed.ValidationOptions) (*typed.TypedValue, []part) {
	if !there {
		return typed.AsTypedUnvalidated(nil, t.t.Schema, t.t.TypeRef), nil
	}
	v, err := t.t.FromUnstructured(runtime.DeepCopyJSONValue(object), options...)
	if err == nil {
		return v, nil
	}
	t.record("typed.fromUnstructured", record{"schema": t.s.schemaID, "type": record{"namedType": t.typeName}, "value": object,
		"allowDuplicates": len(options) > 0, "error": errorText(err), "errors": partsOf(func() error { return err })})
	return nil, []part{{"error", errorText(err)}}
}

func (t *typedStep) run(action string, subject any) ([]part, error) {
	members, _ := subject.(map[string]any)
	switch action {
	case "validate":
		if err := t.find(subject); err != nil {
			return nil, err
		}
		return t.validate(subject), nil
	case "fieldset":
		if err := t.find(subject); err != nil {
			return nil, err
		}
		v, failed := t.typed(subject, true, typed.AllowDuplicates)
		if failed != nil {
			return failed, nil
		}
		r := record{"object": t.recorded(subject, true), "error": nil, "set": nil}
		t.record("typed.toFieldSet", r)
		set, err := v.ToFieldSet()
		if err != nil {
			r["error"] = errorText(err)
			return []part{{"error", errorText(err)}}, nil
		}
		r["set"] = fieldsOf(set)
		return []part{{"set", fieldsOf(set)}}, nil
	case "compare":
		return t.compare(members)
	case "merge":
		return t.merge(members)
	}
	set := fieldpath.NewSet()
	if err := set.FromJSON(strings.NewReader(textOf(members["fields"]))); err != nil {
		return nil, err
	}
	object := members["object"]
	if err := t.find(object); err != nil {
		return nil, err
	}
	v, failed := t.typed(object, true, typed.AllowDuplicates)
	if failed != nil {
		return failed, nil
	}
	switch action {
	case "remove":
		rest := v.RemoveItems(set).AsValue().Unstructured()
		t.record("typed.removeItems", record{"object": t.recorded(object, true), "set": fieldsOf(set), "result": t.recorded(rest, true)})
		return []part{{"object", rest}}, nil
	case "extract":
		keys, _ := members["keys"].(bool)
		var options []typed.ExtractItemsOption
		if keys {
			options = append(options, typed.WithAppendKeyFields())
		}
		found := v.ExtractItems(set, options...).AsValue().Unstructured()
		t.record("typed.extractItems", record{"object": t.recorded(object, true), "set": fieldsOf(set), "appendKeyFields": keys, "result": t.recorded(found, true)})
		return []part{{"object", found}}, nil
	default:
		r := reconciled(t.recorded(object, true), v, set)
		t.record("typed.reconcile", r)
		switch {
		case r["error"] != nil:
			return []part{{"error", r["error"]}}, nil
		case r["changed"] == true:
			return []part{{"set", r["result"]}}, nil
		default:
			return []part{{"unchanged", true}}, nil
		}
	}
}

func (t *typedStep) validate(object any) []part {
	call := func(options ...typed.ValidationOptions) error {
		_, err := t.t.FromUnstructured(runtime.DeepCopyJSONValue(object), options...)
		return err
	}
	strict, lax := call(), call(typed.AllowDuplicates)
	r := record{"schema": t.s.schemaID, "type": t.typeName, "object": object,
		"errors": partsOf(func() error { return strict }), "errorsWithDuplicates": partsOf(func() error { return lax })}
	if lax == nil {
		v, _ := t.t.FromUnstructured(runtime.DeepCopyJSONValue(object), typed.AllowDuplicates)
		if set, err := v.ToFieldSet(); err != nil {
			r["setErrors"] = partsOf(func() error { return err })
		} else {
			r["set"] = fieldsOf(set)
		}
	}
	if _, set := r["set"]; !set || r["set"] != nil {
		// A set that cannot be written is not recorded.
		t.record("validate", r)
	}
	listed := []any{}
	var list typed.ValidationErrors
	if errors.As(strict, &list) {
		list = slices.Clone(list)
		slices.SortFunc(list, func(a, b typed.ValidationError) int { return strings.Compare(a.Error(), b.Error()) })
		for _, e := range list {
			listed = append(listed, []part{{"path", e.Path}, {"message", e.ErrorMessage}})
		}
	}
	return []part{{"errors", listed}}
}

func (t *typedStep) compare(members map[string]any) ([]part, error) {
	from, hasFrom := members["from"]
	to, hasTo := members["to"]
	if err := t.find(from, to); err != nil {
		return nil, err
	}
	lhs, failed := t.typed(from, hasFrom, typed.AllowDuplicates)
	if failed != nil {
		return failed, nil
	}
	rhs, failed := t.typed(to, hasTo, typed.AllowDuplicates)
	if failed != nil {
		return failed, nil
	}
	r := record{"lhs": t.recorded(from, hasFrom), "rhs": t.recorded(to, hasTo), "error": nil, "comparison": nil}
	t.record("typed.compare", r)
	c, err := lhs.Compare(rhs)
	if err != nil {
		r["error"] = err.Error()
		return []part{{"error", err.Error()}}, nil
	}
	r["comparison"] = comparisonOf(c)
	return []part{{"added", fieldsOf(c.Added)}, {"modified", fieldsOf(c.Modified)}, {"removed", fieldsOf(c.Removed)}}, nil
}

func (t *typedStep) merge(members map[string]any) ([]part, error) {
	live, hasLive := members["live"]
	config, hasConfig := members["config"]
	if err := t.find(live, config); err != nil {
		return nil, err
	}
	lhs, failed := t.typed(live, hasLive, typed.AllowDuplicates)
	if failed != nil {
		return failed, nil
	}
	rhs, failed := t.typed(config, hasConfig)
	if failed != nil {
		return failed, nil
	}
	r := record{"lhs": t.recorded(live, hasLive), "rhs": t.recorded(config, hasConfig), "error": nil, "result": nil}
	t.record("typed.merge", r)
	m, err := lhs.Merge(rhs)
	if err != nil {
		r["error"] = err.Error()
		return []part{{"error", err.Error()}}, nil
	}
	var merged any
	if v := m.AsValue(); v != nil {
		merged = v.(value.Value).Unstructured()
	}
	r["result"] = t.recorded(merged, m.AsValue() != nil)
	return []part{{"object", merged}}, nil
}
