package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"sort"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

type mergedRecord struct {
	V3 []mergedV3 `json:"v3,omitempty"`
	V2 *mergedV2  `json:"v2,omitempty"`
}

// mergedV3 is the document of one group version.
type mergedV3 struct {
	Path       string   `json:"path"`
	CRDs       []string `json:"crds"`
	FailedCRDs []string `json:"failed_crds,omitempty"`
	Error      string   `json:"error,omitempty"`
	*document
}

type mergedV2 struct {
	CRDs       []string `json:"crds"`
	FailedCRDs []string `json:"failed_crds,omitempty"`
	Error      string   `json:"error,omitempty"`
	*document
}

// byName returns the CRDs in the order in which they are merged: by name (upstream's order is random). Of several
// manifests with the same name, the first is used.
func byName(manifests []manifest) []*apiextensionsv1.CustomResourceDefinition {
	var crds []*apiextensionsv1.CustomResourceDefinition
	seen := map[string]bool{}
	for _, m := range manifests {
		if m.err == nil && !seen[m.crd.Name] {
			seen[m.crd.Name] = true
			crds = append(crds, m.crd)
		}
	}
	sort.Slice(crds, func(i, j int) bool { return crds[i].Name < crds[j].Name })
	return crds
}

func mergeAll(manifests []manifest, which answers) (*mergedRecord, error) {
	crds := byName(manifests)
	record := &mergedRecord{}
	if which.v3 {
		record.V3 = mergeV3(crds)
	}
	if which.v2 {
		record.V2 = mergeV2(bareSwagger(), crds)
	}
	return record, nil
}

// mergeV3 builds one document per group version from the served versions, ordered by path.
func mergeV3(crds []*apiextensionsv1.CustomResourceDefinition) []mergedV3 {
	groups := map[string]*mergedV3{}
	docs := map[string][]*spec3.OpenAPI{}
	for _, crd := range crds {
		for _, v := range crd.Spec.Versions {
			if !v.Served {
				continue
			}
			path := fmt.Sprintf("apis/%s/%s", crd.Spec.Group, v.Name)
			g := groups[path]
			if g == nil {
				g = &mergedV3{Path: path, CRDs: []string{}}
				groups[path] = g
			}
			doc, err := buildV3(crd, v.Name, publishV3)
			if err != nil {
				g.FailedCRDs = append(g.FailedCRDs, crd.Name)
				continue
			}
			g.CRDs = append(g.CRDs, crd.Name)
			docs[path] = append(docs[path], doc)
		}
	}
	result := make([]mergedV3, 0, len(groups))
	for path, g := range groups {
		if len(docs[path]) > 0 {
			err := guard(func() error {
				merged, err := mergeSpecsV3(docs[path])
				if err != nil {
					return err
				}
				body, err := json.Marshal(merged)
				if err != nil {
					return err
				}
				d := newDocument(body)
				g.document = &d
				return nil
			})
			if err != nil {
				g.Error = err.Error()
			}
		}
		result = append(result, *g)
	}
	sort.Slice(result, func(i, j int) bool { return result[i].Path < result[j].Path })
	return result
}

// bareSwagger is an empty static specification.
func bareSwagger() *spec.Swagger {
	return &spec.Swagger{SwaggerProps: spec.SwaggerProps{
		Swagger: "2.0",
		Info:    &spec.Info{InfoProps: spec.InfoProps{Title: "Kubernetes", Version: "unversioned"}},
	}}
}

// mergeV2 merges the served versions of all CRDs into a static specification, as the v2 controller does. A CRD that
// fails to build is left out.
func mergeV2(static *spec.Swagger, crds []*apiextensionsv1.CustomResourceDefinition) *mergedV2 {
	record := &mergedV2{CRDs: []string{}}
	var docs []*spec.Swagger
	for _, crd := range crds {
		doc, err := mergeServedV2(crd)
		if err != nil {
			record.FailedCRDs = append(record.FailedCRDs, crd.Name)
			continue
		}
		record.CRDs = append(record.CRDs, crd.Name)
		docs = append(docs, doc)
	}
	err := guard(func() error {
		merged, err := builder.MergeSpecs(static, docs...)
		if err != nil {
			return err
		}
		body, err := merged.MarshalJSON()
		if err != nil {
			return err
		}
		d := newDocument(body)
		record.document = &d
		return nil
	})
	if err != nil {
		record.Error = err.Error()
	}
	return record
}

func runMergeV2(args []string, in io.Reader, out *bufio.Writer) error {
	flags := flag.NewFlagSet("merge-v2", flag.ExitOnError)
	onto := flags.String("onto", "", "file with the static v2 document")
	flags.Parse(args)
	// Merging may write into the static document, so every request reads it again.
	static := func() (*spec.Swagger, error) { return bareSwagger(), nil }
	if *onto != "" {
		text, err := os.ReadFile(*onto)
		if err != nil {
			return err
		}
		static = func() (*spec.Swagger, error) {
			doc := &spec.Swagger{}
			return doc, json.Unmarshal(text, doc)
		}
	}
	return eachRequest(in, out, func(r request) (any, error) {
		base, err := static()
		if err != nil {
			return nil, err
		}
		return struct {
			ID string    `json:"id"`
			V2 *mergedV2 `json:"v2"`
		}{r.ID, mergeV2(base, byName(readManifests(r.YAML)))}, nil
	})
}
