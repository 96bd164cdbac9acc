package main

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"
	"strings"
)

// Mapped is what REST mappers make of resources.
type Mapped struct {
	// How many resources led to their kind, their singular name and back.
	Resources int `json:"resources"`
	// What kinds are mapped to: `GROUP/VERSION, Kind` to `GROUP/VERSION, resource, scope`.
	Kinds map[string]string `json:"kinds"`
	// What short names are expanded to.
	ShortNames map[string]string `json:"short_names"`
	// Where the mapper that reads discovery at once and the one that puts it off differ, and what they could
	// not map.
	Faults []string `json:"faults"`
}

func mapped(client discovery.CachedDiscoveryInterface, resources []Resource) (Mapped, error) {
	out := Mapped{Kinds: map[string]string{}, ShortNames: map[string]string{}, Faults: []string{}}
	groups, err := restmapper.GetAPIGroupResources(client)
	if err != nil {
		return out, err
	}
	immediate := restmapper.NewDiscoveryRESTMapper(groups)
	deferred := restmapper.NewDeferredDiscoveryRESTMapper(client)
	expander := restmapper.NewShortcutExpander(deferred, client, nil)
	for i := range resources {
		resource := &resources[i]
		if strings.Contains(resource.Name, "/") {
			continue
		}
		out.Resources++
		for _, mapper := range []meta.RESTMapper{immediate, deferred} {
			if fault := out.both(mapper, resource); fault != nil {
				out.Faults = append(out.Faults, fmt.Sprintf("%s: %v", resource.ResponseKind, fault))
			}
		}
		for _, name := range resource.ShortNames {
			expanded, err := expander.ResourceFor(schema.GroupVersionResource{Resource: name})
			if err != nil {
				out.Faults = append(out.Faults, fmt.Sprintf("%s: %v", name, err))
				continue
			}
			out.ShortNames[name] = shown(expanded, nil)
		}
	}
	return out, nil
}

// both maps a resource to its kind, and the kind to its resource.
func (out *Mapped) both(mapper meta.RESTMapper, resource *Resource) error {
	version := schema.GroupVersion{Group: resource.Group, Version: resource.Version}
	kind, err := mapper.KindFor(version.WithResource(resource.Name))
	if err != nil {
		return err
	}
	if kind.GroupVersion() != version || kind.Kind != resource.Kind {
		return fmt.Errorf("%s has the kind %s", resource.Name, kind)
	}
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	if mapping.Resource != version.WithResource(resource.Name) {
		// Several resources may have one kind; the mapper then knows the last.
		return fmt.Errorf("the kind has the resource %s", mapping.Resource)
	}
	for _, name := range []string{resource.Name, resource.Singular, strings.ToLower(resource.Kind)} {
		found, err := mapper.ResourceFor(version.WithResource(name))
		if err != nil {
			return err
		}
		if found != mapping.Resource {
			return fmt.Errorf("%s is the resource %s", name, found)
		}
	}
	singular, err := mapper.ResourceSingularizer(resource.Name)
	if err != nil {
		return err
	}
	shown := shown(mapping.Resource, mapping.Scope) + ", " + singular
	name := kind.GroupVersion().String() + ", " + kind.Kind
	if before, known := out.Kinds[name]; known && before != shown {
		return fmt.Errorf("%s by one mapper, %s by the other", before, shown)
	}
	out.Kinds[name] = shown
	return nil
}

func shown(resource schema.GroupVersionResource, scope meta.RESTScope) string {
	text := resource.GroupVersion().String() + ", " + resource.Resource
	if scope != nil {
		text += ", " + string(scope.Name())
	}
	return text
}
