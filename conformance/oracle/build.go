package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/kube-openapi/pkg/handler"
	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"
)

// panicked is a panic of a library, as an error.
type panicked struct{ value any }

func (p panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// guard calls f and turns a panic into an error.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicked{r}
		}
	}()
	return f()
}

// The options of the controllers that publish OpenAPI.
var (
	publishV3 = builder.Options{IncludeSelectableFields: true}
	publishV2 = builder.Options{V2: true, IncludeSelectableFields: true}
)

func buildV3(crd *apiextensionsv1.CustomResourceDefinition, version string, opts builder.Options) (doc *spec3.OpenAPI, err error) {
	err = guard(func() error {
		doc, err = builder.BuildOpenAPIV3(crd, version, opts)
		return err
	})
	return doc, err
}

func buildV2(crd *apiextensionsv1.CustomResourceDefinition, version string) (doc *spec.Swagger, err error) {
	err = guard(func() error {
		doc, err = builder.BuildOpenAPIV2(crd, version, publishV2)
		return err
	})
	return doc, err
}

// buildSMD returns the schema with which server-side apply merges objects of the CRD: that of all versions, served or
// not.
func buildSMD(crd *apiextensionsv1.CustomResourceDefinition) (*smdschema.Schema, error) {
	var result *smdschema.Schema
	err := guard(func() error {
		var docs []*spec3.OpenAPI
		for _, v := range crd.Spec.Versions {
			doc, err := builder.BuildOpenAPIV3(crd, v.Name, builder.Options{})
			if err != nil {
				return err
			}
			docs = append(docs, doc)
		}
		merged, err := mergeSpecsV3(docs)
		if err != nil {
			return err
		}
		var models map[string]*spec.Schema
		if merged.Components != nil {
			models = merged.Components.Schemas
		}
		result, err = schemaconv.ToSchemaFromOpenAPI(models, crd.Spec.PreserveUnknownFields)
		return sortLines(err)
	})
	return result, err
}

// sortLines sorts the lines of an error, because upstream collects them while it walks maps.
func sortLines(err error) error {
	if err == nil {
		return nil
	}
	lines := strings.Split(err.Error(), "\n")
	sort.Strings(lines)
	return errors.New(strings.Join(lines, "\n"))
}

// mergeSpecsV3 merges documents. Of several conflicts, upstream names a random one; this returns the first by name.
func mergeSpecsV3(docs []*spec3.OpenAPI) (*spec3.OpenAPI, error) {
	merged, err := builder.MergeSpecsV3(docs...)
	if err == nil {
		return merged, nil
	}
	names := map[string]bool{}
	for _, doc := range docs {
		if doc.Components != nil {
			for name := range doc.Components.Schemas {
				names[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		// Try again with only this definition.
		var single []*spec3.OpenAPI
		for _, doc := range docs {
			if doc.Components == nil || doc.Components.Schemas[name] == nil {
				continue
			}
			reduced := *doc
			reduced.Components = &spec3.Components{Schemas: map[string]*spec.Schema{name: doc.Components.Schemas[name]}}
			single = append(single, &reduced)
		}
		if _, err := builder.MergeSpecsV3(single...); err != nil {
			return nil, err
		}
	}
	return nil, err
}

// mergeServedV2 is the part of one CRD in the v2 specification: all served versions without defaults.
func mergeServedV2(crd *apiextensionsv1.CustomResourceDefinition) (merged *spec.Swagger, err error) {
	err = guard(func() error {
		merged = &spec.Swagger{}
		for _, v := range crd.Spec.Versions {
			if !v.Served {
				continue
			}
			doc, err := builder.BuildOpenAPIV2(crd, v.Name, publishV2)
			if err != nil {
				return err
			}
			doc.Definitions = handler.PruneDefaults(doc.Definitions)
			if merged, err = builder.MergeSpecs(merged, doc); err != nil {
				return err
			}
		}
		return nil
	})
	return merged, err
}

// fieldError is a validation error without the invalid value.
type fieldError struct {
	Type   string `json:"type"`
	Field  string `json:"field"`
	Detail string `json:"detail"`
}

// structuralErrors reports whether the version has a schema, why that does not convert to structural form, or why it is
// not structural. Errors are sorted, because upstream returns them in random order.
func structuralErrors(crd *apiextensionsv1.CustomResourceDefinition, version string) (hasSchema bool, errs []fieldError, err error) {
	err = guard(func() error {
		validation, err := apihelpers.GetSchemaForVersion(crd, version)
		if err != nil || validation == nil || validation.OpenAPIV3Schema == nil {
			return err
		}
		hasSchema = true
		var internal apiextensions.JSONSchemaProps
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(validation.OpenAPIV3Schema, &internal, nil); err != nil {
			return err
		}
		structural, err := structuralschema.NewStructural(&internal)
		if err != nil {
			return err
		}
		errs = []fieldError{}
		for _, e := range structuralschema.ValidateStructural(nil, structural) {
			errs = append(errs, fieldError{string(e.Type), e.Field, e.Detail})
		}
		sort.Slice(errs, func(i, j int) bool {
			a, b := errs[i], errs[j]
			if a.Field != b.Field {
				return a.Field < b.Field
			}
			if a.Type != b.Type {
				return a.Type < b.Type
			}
			return a.Detail < b.Detail
		})
		return nil
	})
	return hasSchema, errs, err
}

// document is a published document with the entity tag a server would give it.
type document struct {
	Len  int             `json:"len"`
	ETag string          `json:"etag"`
	Doc  json.RawMessage `json:"doc"`
}

func newDocument(body []byte) document {
	return document{len(body), etag(body), body}
}
