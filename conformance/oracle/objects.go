package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	schemaobjectmeta "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

type objectsRequest struct {
	ID      string `json:"id"`
	Objects struct {
		Definition json.RawMessage   `json:"definition"`
		Objects    []json.RawMessage `json:"objects"`
	} `json:"objects"`
}

type objectsRecord struct {
	ID    string         `json:"id"`
	Error string         `json:"error,omitempty"`
	Cases []objectRecord `json:"cases,omitempty"`
}

// objectRecord is the answer for the creation of an object, and for an update of the previous object.
type objectRecord struct {
	DecodeError  string          `json:"decodeError,omitempty"`
	Panic        string          `json:"panic,omitempty"`
	Unknown      []string        `json:"unknown,omitempty"`
	Result       json.RawMessage `json:"result,omitempty"`
	Errors       []judged        `json:"errors,omitempty"`
	CEL          []judged        `json:"cel,omitempty"`
	CELCost      *int64          `json:"celCost,omitempty"`
	UpdateErrors *[]judged       `json:"updateErrors,omitempty"`
}

// resource is what a server needs to handle the objects of a definition's first version.
type resource struct {
	group, kind string
	structural  *structuralschema.Structural
	rules       *schemacel.Validator
	strategy    interface {
		Validate(ctx context.Context, obj runtime.Object) field.ErrorList
		ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList
	}
}

func runObjects(_ []string, in io.Reader, out *bufio.Writer) error {
	return eachRequest(in, out, func(r objectsRequest) (any, error) {
		record := objectsRecord{ID: r.ID}
		var served *resource
		err := guard(func() (err error) {
			served, err = newResource(r.Objects.Definition)
			return err
		})
		if err != nil {
			record.Error = err.Error()
			return record, nil
		}
		var old *unstructured.Unstructured
		for _, object := range r.Objects.Objects {
			var c objectRecord
			var decoded *unstructured.Unstructured
			err := guard(func() (err error) {
				decoded, err = served.judge(object, old, &c)
				return err
			})
			var p panicked
			if errors.As(err, &p) {
				c.Panic = err.Error()
			} else if err != nil {
				c.DecodeError = err.Error()
				// Of several malformed places, upstream names one at random; this returns the first.
				for range attempts {
					if _, err := served.judge(object, nil, &objectRecord{}); err != nil {
						c.DecodeError = min(c.DecodeError, err.Error())
					}
				}
			}
			old = decoded
			record.Cases = append(record.Cases, c)
		}
		return record, nil
	})
}

// newResource does what the server does when it starts to serve a definition.
func newResource(text []byte) (*resource, error) {
	internal, err := decodeInternal(text)
	if err != nil {
		return nil, err
	}
	created := internal.DeepCopy()
	definitions := customresourcedefinition.NewStrategy(scheme)
	definitions.PrepareForCreate(context.Background(), created)
	if err := definitions.Validate(context.Background(), created).ToAggregate(); err != nil {
		return nil, err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := scheme.Convert(internal, crd, nil); err != nil {
		return nil, err
	}
	props := storedSchema(internal)
	if props == nil {
		return nil, errors.New("no schema")
	}
	structural, err := structuralschema.NewStructural(props)
	if err != nil {
		return nil, err
	}
	structural = structural.DeepCopy()
	if err := defaulting.PruneDefaults(structural); err != nil {
		return nil, err
	}
	validator, _, err := apiservervalidation.NewSchemaValidator(props)
	if err != nil {
		return nil, err
	}
	version := crd.Spec.Versions[0]
	var status *apiextensions.CustomResourceSubresourceStatus
	var statusValidator apiservervalidation.SchemaValidator
	var scale *apiextensions.CustomResourceSubresourceScale
	if s := version.Subresources; s != nil {
		if s.Status != nil {
			status = &apiextensions.CustomResourceSubresourceStatus{}
		}
		if s.Scale != nil {
			scale = &apiextensions.CustomResourceSubresourceScale{}
			if err := apiextensionsv1.Convert_v1_CustomResourceSubresourceScale_To_apiextensions_CustomResourceSubresourceScale(s.Scale, scale, nil); err != nil {
				return nil, err
			}
		}
	}
	kind := schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind}
	return &resource{
		group:      crd.Spec.Group,
		kind:       crd.Spec.Names.Kind,
		structural: structural,
		rules:      schemacel.NewValidator(structural, true, celconfig.PerCallLimit),
		strategy: customresource.NewStrategy(scheme, crd.Spec.Scope == apiextensionsv1.NamespaceScoped, kind, validator,
			statusValidator, structural, status, scale, version.SelectableFields),
	}, nil
}

func (r *resource) judge(text []byte, old *unstructured.Unstructured, c *objectRecord) (*unstructured.Unstructured, error) {
	ctx := context.Background()
	content := map[string]any{}
	if err := utiljson.Unmarshal(text, &content); err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: content}
	if err := r.decode(u, c); err != nil {
		return nil, err
	}
	var err error
	if c.Result, err = json.Marshal(u.Object); err != nil {
		return nil, err
	}
	if r.rules != nil {
		list, remaining := r.rules.Validate(ctx, nil, r.structural, u.Object, nil, celconfig.RuntimeCELCostBudget)
		used := celconfig.RuntimeCELCostBudget - remaining
		again, remainingAgain := r.rules.Validate(ctx, nil, r.structural, u.Object, nil, celconfig.RuntimeCELCostBudget)
		c.CEL = judgedErrors(list)
		if remaining == remainingAgain && len(list) == len(again) {
			c.CELCost = &used
		}
	}
	c.Errors = judgedErrors(r.strategy.Validate(ctx, u.DeepCopy()))
	if old != nil {
		changed := u.DeepCopy()
		before := old.DeepCopy()
		changed.SetResourceVersion("1")
		before.SetResourceVersion("1")
		list := judgedErrors(r.strategy.ValidateUpdate(ctx, changed, before))
		c.UpdateErrors = &list
	}
	return u, nil
}

// decode does what the server's decoder for custom resources does with an object.
func (r *resource) decode(u *unstructured.Unstructured, c *objectRecord) error {
	kind, foundKind, err := unstructured.NestedString(u.Object, "kind")
	if err != nil {
		return err
	}
	apiVersion, foundAPIVersion, err := unstructured.NestedString(u.Object, "apiVersion")
	if err != nil {
		return err
	}
	meta, foundMeta, unknown, err := schemaobjectmeta.GetObjectMetaWithOptions(u.Object, schemaobjectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return err
	}
	if kind != r.kind {
		return fmt.Errorf("kind %q", kind)
	}
	tracking := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	unknown = append(unknown, pruning.PruneWithOptions(u.Object, r.structural, true, tracking)...)
	defaulting.PruneNonNullableNullsWithoutDefaults(u.Object, r.structural)
	coerceErr, paths := schemaobjectmeta.CoerceWithOptions(nil, u.Object, r.structural, false, schemaobjectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
	if coerceErr != nil {
		return coerceErr
	}
	c.Unknown = slices.Concat(unknown, paths)
	if foundKind {
		u.SetKind(kind)
	}
	if foundAPIVersion {
		u.SetAPIVersion(apiVersion)
	}
	if foundMeta {
		if err := schemaobjectmeta.SetObjectMeta(u.Object, meta); err != nil {
			return err
		}
	}
	defaulting.Default(u.Object, r.structural)
	return nil
}
