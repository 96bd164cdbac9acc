package main

import (
	"fmt"
	"sort"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi3"
	"k8s.io/kube-openapi/pkg/util/proto"
)

// Document3 is a v3 document as the client has read it.
type Document3 struct {
	GroupVersion string `json:"group_version"`
	Paths        int    `json:"paths"`
	Schemas      int    `json:"schemas"`
	// Kinds in the schemas of the document.
	Kinds []string `json:"kinds"`
}

// Document2 is the v2 document as the client has read it.
type Document2 struct {
	Paths       int `json:"paths"`
	Definitions int `json:"definitions"`
	// Kinds by which kubectl finds a definition.
	Kinds []string `json:"kinds"`
}

const kindExtension = "x-kubernetes-group-version-kind"

func documents3(client discovery.DiscoveryInterface) ([]Document3, error) {
	root := openapi3.NewRoot(client.OpenAPIV3())
	versions, err := root.GroupVersions()
	if err != nil {
		return nil, err
	}
	out := make([]Document3, 0, len(versions))
	for _, version := range versions {
		document, err := root.GVSpec(version)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", version, err)
		}
		untyped, err := root.GVSpecAsMap(version)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", version, err)
		}
		read := Document3{GroupVersion: version.String(), Kinds: []string{}}
		if document.Paths != nil {
			read.Paths = len(document.Paths.Paths)
		}
		if document.Components != nil {
			read.Schemas = len(document.Components.Schemas)
			for _, schema := range document.Components.Schemas {
				kinds, _ := schema.Extensions[kindExtension].([]any)
				read.Kinds = append(read.Kinds, names(kinds)...)
			}
		}
		if paths, _ := untyped["paths"].(map[string]any); len(paths) != read.Paths {
			return nil, fmt.Errorf("%s: %d paths typed, %d untyped", version, read.Paths, len(paths))
		}
		sort.Strings(read.Kinds)
		out = append(out, read)
	}
	return out, nil
}

func document2(client discovery.DiscoveryInterface) (Document2, error) {
	document, err := client.OpenAPISchema()
	if err != nil {
		return Document2{}, err
	}
	models, err := proto.NewOpenAPIData(document)
	if err != nil {
		return Document2{}, err
	}
	out := Document2{
		Paths:       len(document.GetPaths().GetPath()),
		Definitions: len(document.GetDefinitions().GetAdditionalProperties()),
		Kinds:       []string{},
	}
	for _, name := range models.ListModels() {
		// Extensions of this form are read from YAML, with maps of any keys.
		kinds, _ := models.LookupModel(name).GetExtensions()[kindExtension].([]any)
		out.Kinds = append(out.Kinds, names(kinds)...)
	}
	sort.Strings(out.Kinds)
	return out, nil
}

// names prints a list of kinds, each an object of group, kind and version.
func names(kinds []any) []string {
	out := make([]string, 0, len(kinds))
	for _, kind := range kinds {
		member := func(name string) any {
			switch kind := kind.(type) {
			case map[string]any:
				return kind[name]
			case map[any]any:
				return kind[name]
			}
			return nil
		}
		group, version := member("group"), member("version")
		if group == "" || group == nil {
			out = append(out, fmt.Sprintf("%v, %v", version, member("kind")))
		} else {
			out = append(out, fmt.Sprintf("%v/%v, %v", group, version, member("kind")))
		}
	}
	return out
}
