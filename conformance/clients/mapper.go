package main

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"
	"strings"
)

// Mapped is the mapping of resources by REST mappers.
type Mapped struct {
	// The number of resources that led to their kind, their singular name and back.
	Resources int `json:"resources"`
	// The mapping of kinds: `GROUP/VERSION, Kind` to `GROUP/VERSION, resource, scope`.
	Kinds map[string]string `json:"kinds"`
	// The expansions of short names.
	ShortNames map[string]string `json:"short_names"`
	// Questions about incomplete names, with their answers: `none` and `several` are no match.
	Lookups map[string]string `json:"lookups"`
	// Differences between the mapper that reads discovery immediately and the one that defers it, and what they could not
	// map.
	Faults []string `json:"faults"`
}

func mapped(client discovery.CachedDiscoveryInterface, resources []Resource, incomplete bool) (Mapped, error) {
	out := Mapped{Kinds: map[string]string{}, ShortNames: map[string]string{}, Lookups: map[string]string{}, Faults: []string{}}
	groups, err := restmapper.GetAPIGroupResources(client)
	if err != nil {
		return out, err
	}
	immediate := restmapper.NewDiscoveryRESTMapper(groups)
	deferred := restmapper.NewDeferredDiscoveryRESTMapper(client)
	expander := restmapper.NewShortcutExpander(deferred, client, nil)
	// A deferred mapper reads discovery again whenever it finds nothing.
	questions := lookups{immediate, restmapper.NewShortcutExpander(immediate, client, nil), out.Lookups}
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
		if incomplete {
			questions.about(resource)
		}
	}
	return out, nil
}

// lookups looks up incomplete names.
type lookups struct {
	mapper, expander meta.RESTMapper
	answers          map[string]string
}

func (l *lookups) about(resource *Resource) {
	lower := strings.ToLower(resource.Kind)
	// With a prefix of the group, too.
	groups := []string{"", resource.Group, resource.Group[:min(4, len(resource.Group))]}
	versions := []string{"", resource.Version}
	names := append([]string{resource.Name, resource.Singular, lower, strings.ToUpper(resource.Name), resource.Kind},
		resource.ShortNames...)
	for _, group := range groups {
		for _, version := range versions {
			for _, name := range names {
				l.ask("", l.mapper, schema.GroupVersionResource{Group: group, Version: version, Resource: name})
			}
			for _, name := range append([]string{resource.Name, "none"}, resource.ShortNames...) {
				l.ask("expanded ", l.expander, schema.GroupVersionResource{Group: group, Version: version, Resource: name})
			}
		}
		l.ask("", l.mapper, schema.GroupVersionResource{Group: group, Version: "v0", Resource: resource.Name})
		for _, kind := range []string{resource.Kind, lower, resource.Kind + "List"} {
			for _, wanted := range [][]string{{}, {resource.Version}, {"v0"}, {"v0", resource.Version}} {
				l.mapping(schema.GroupKind{Group: group, Kind: kind}, wanted)
			}
		}
	}
	l.ask("", l.mapper, schema.GroupVersionResource{Group: "no.such.group", Resource: resource.Name})
}

func (l *lookups) ask(prefix string, mapper meta.RESTMapper, partial schema.GroupVersionResource) {
	asked := fmt.Sprintf("%s in %q %s", partial.Resource, partial.Group, partial.Version)
	if _, known := l.answers[prefix+"kind of "+asked]; known {
		return
	}
	kind, err := mapper.KindFor(partial)
	l.answers[prefix+"kind of "+asked] = answer(kind.GroupVersion().String()+", "+kind.Kind, err)
	resource, err := mapper.ResourceFor(partial)
	l.answers[prefix+"resource of "+asked] = answer(shown(resource, nil), err)
}

func (l *lookups) mapping(kind schema.GroupKind, wanted []string) {
	question := fmt.Sprintf("mapping of %s in %q %s", kind.Kind, kind.Group, strings.Join(wanted, " "))
	mapping, err := l.mapper.RESTMapping(kind, wanted...)
	if err != nil {
		l.answers[question] = answer("", err)
		return
	}
	l.answers[question] = shown(mapping.Resource, mapping.Scope)
}

func answer(found string, err error) string {
	switch {
	case err == nil:
		return found
	case meta.IsNoMatchError(err):
		return "none"
	case meta.IsAmbiguousError(err):
		return "several"
	}
	return err.Error()
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
		// Several resources may have one kind; then the mapper knows the last.
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
