// Prints the CustomResourceDefinitions that Crossplane and kro make of their definitions in YAML files, one JSON
// object per definition: {"file", "name", "definitions"} or {"file", "name", "error"}. kro infers the status from resources of a
// cluster, so the definitions of kro have only the status that every instance has.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"regexp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	crossplane "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	common "github.com/crossplane/crossplane/apis/v2/core/v2"
	kro "github.com/kubernetes-sigs/kro/api/v1alpha1"
	"github.com/kubernetes-sigs/kro/pkg/graph/crd"
	"github.com/kubernetes-sigs/kro/pkg/simpleschema"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

type definition = apiextensions.CustomResourceDefinition

type head struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
}

// ofCrossplane renders the composite resource and its claim.
func ofCrossplane(text []byte, apiVersion string) ([]*definition, error) {
	xrd := &crossplane.CompositeResourceDefinition{}
	if err := yaml.Unmarshal(text, xrd); err != nil {
		return nil, err
	}
	if xrd.Spec.Scope == nil {
		// The defaults of the two versions.
		scope := crossplane.CompositeResourceScopeLegacyCluster
		if apiVersion == "apiextensions.crossplane.io/v2" {
			scope = crossplane.CompositeResourceScopeNamespaced
		}
		xrd.Spec.Scope = &scope
	}
	// A server adds the defaults of the definition of definitions.
	if xrd.Spec.DefaultCompositeDeletePolicy == nil {
		background := common.CompositeDeleteBackground
		xrd.Spec.DefaultCompositeDeletePolicy = &background
	}
	if xrd.Spec.DefaultCompositionUpdatePolicy == nil {
		automatic := common.UpdateAutomatic
		xrd.Spec.DefaultCompositionUpdatePolicy = &automatic
	}
	composite, err := xcrd.ForCompositeResource(xrd)
	if err != nil {
		return nil, err
	}
	out := []*definition{composite}
	if xrd.Spec.ClaimNames != nil {
		claim, err := xcrd.ForCompositeResourceClaim(xrd)
		if err != nil {
			return nil, err
		}
		out = append(out, claim)
	}
	return out, nil
}

// ofKro renders the instance, as the builder of graphs does before it infers the status.
func ofKro(text []byte) ([]*definition, error) {
	rgd := &kro.ResourceGraphDefinition{}
	if err := yaml.Unmarshal(text, rgd); err != nil {
		return nil, err
	}
	schema := rgd.Spec.Schema
	if schema == nil {
		return nil, fmt.Errorf("no schema")
	}
	if schema.Group == "" {
		schema.Group = kro.KRODomainName
	}
	spec, types := map[string]any{}, map[string]any{}
	if err := yaml.UnmarshalStrict(schema.Spec.Raw, &spec); err != nil {
		return nil, err
	}
	if err := yaml.UnmarshalStrict(schema.Types.Raw, &types); err != nil {
		return nil, err
	}
	made, err := simpleschema.ToOpenAPISpec(spec, types)
	if err != nil {
		return nil, err
	}
	scope := apiextensions.NamespaceScoped
	if schema.Scope == kro.ResourceScopeCluster {
		scope = apiextensions.ClusterScoped
	}
	empty := apiextensions.JSONSchemaProps{Type: "object"}
	return []*definition{crd.SynthesizeCRD(schema.Group, schema.APIVersion, schema.Kind, *made, empty, true, scope, schema)}, nil
}

func main() {
	separator := regexp.MustCompile(`(?m)^---.*$`)
	out := json.NewEncoder(os.Stdout)
	for _, file := range os.Args[1:] {
		text, err := os.ReadFile(file)
		if err != nil {
			log.Fatal(err)
		}
		for _, document := range separator.Split(string(text), -1) {
			var head head
			if yaml.Unmarshal([]byte(document), &head) != nil {
				continue
			}
			var made []*definition
			var err error
			switch head.Kind {
			case "CompositeResourceDefinition":
				made, err = ofCrossplane([]byte(document), head.APIVersion)
			case "ResourceGraphDefinition":
				made, err = ofKro([]byte(document))
			default:
				continue
			}
			line := map[string]any{"file": file, "name": head.Metadata.Name, "definitions": made}
			if err != nil {
				line = map[string]any{"file": file, "name": head.Metadata.Name, "error": err.Error()}
			}
			if err := out.Encode(line); err != nil {
				log.Fatal(err)
			}
		}
	}
}
