package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// schemaGen generates schemas. They are always valid for the parser; types may be recursive.
type schemaGen struct {
	*rand.Rand
	types []string
}

// drawnSchema is a random schema with its parser and its id.
type drawnSchema struct {
	id     string
	model  record
	parser *typed.Parser
	// versions are the API versions of the drawn kind, each with a root type of the same name.
	versions []string
	// only are the fields of the object and of its spec that one version has and the others lack.
	only map[string][]string
}

// allVersions are the versions of which a generated kind has two or three.
var allVersions = []string{"example.com/v1", "example.com/v1beta1", "example.com/v1alpha1"}

const drawnKind = "Widget"

// fixedTypes are in every schema: the two types that converters append, and the metadata of objects.
func fixedTypes() []any {
	named := func(name string) record { return record{"namedType": name} }
	field := func(name string, t record) record { return record{"name": name, "type": t} }
	text := record{"scalar": "string"}
	texts := record{"map": record{"elementType": text}}
	return []any{
		record{
			"name": "__untyped_atomic_", "scalar": "untyped",
			"list": record{"elementRelationship": "atomic", "elementType": named("__untyped_atomic_")},
			"map":  record{"elementRelationship": "atomic", "elementType": named("__untyped_atomic_")},
		},
		record{
			"name": "__untyped_deduced_", "scalar": "untyped",
			"list": record{"elementRelationship": "atomic", "elementType": named("__untyped_atomic_")},
			"map":  record{"elementRelationship": "separable", "elementType": named("__untyped_deduced_")},
		},
		record{"name": "meta", "map": record{"fields": []any{
			field("annotations", texts),
			field("creationTimestamp", record{"scalar": "untyped"}),
			field("finalizers", record{"list": record{"elementRelationship": "associative", "elementType": text}}),
			field("generation", record{"scalar": "numeric"}),
			field("labels", texts),
			field("managedFields", named("__untyped_atomic_")),
			field("name", text),
			field("namespace", text),
			field("ownerReferences", record{"list": record{"elementRelationship": "associative", "keys": []any{"uid"}, "elementType": named("owner")}}),
			field("resourceVersion", text),
			field("uid", text),
		}}},
		record{"name": "owner", "map": record{"elementRelationship": "atomic", "fields": []any{
			field("kind", text), field("name", text), record{"name": "uid", "type": text, "default": ""},
		}}},
	}
}

// drawSchema draws a schema: a root type per version, which mostly share their types.
func drawSchema(random *rand.Rand) (*drawnSchema, error) {
	g := &schemaGen{Rand: random}
	for i := range 3 + g.Intn(4) {
		g.types = append(g.types, fmt.Sprintf("t%d", i))
	}
	types := fixedTypes()
	for _, name := range g.types {
		t := g.atom(2)
		t["name"] = name
		types = append(types, t)
	}
	root := g.structure(3, []string{"data", "status"})
	spec := g.structure(3, g.some(fieldNames, 5))
	delete(spec, "elementRelationship")
	root["fields"] = append(root["fields"].([]any),
		record{"name": "items", "type": record{"list": g.keyed(2)}},
		record{"name": "labels", "type": record{"map": record{"elementType": record{"scalar": "string"}}}},
		record{"name": "set", "type": record{"list": record{"elementRelationship": "associative", "elementType": record{"scalar": g.scalar()}}}},
		record{"name": "spec", "type": record{"map": spec}},
		record{"name": "apiVersion", "type": record{"scalar": "string"}},
		record{"name": "kind", "type": record{"scalar": "string"}},
		record{"name": "metadata", "type": record{"namedType": "meta"}},
	)
	delete(root, "elementRelationship")
	versions, only := allVersions[:2+g.Intn(2)], map[string][]string{}
	for i, version := range versions {
		t := record{"name": rootType(version), "map": root}
		if i > 0 {
			switch g.Intn(5) {
			case 0:
				t["map"] = g.relative(root)
			case 1, 2:
				t["map"] = g.successor(root, 0)
			}
		}
		if g.Intn(3) == 0 {
			name := "only-" + strings.TrimPrefix(version, "example.com/")
			t["map"] = g.with(t["map"].(record), record{"name": name, "type": g.atom(1)}, g.Intn(2) == 0)
			only[version] = []string{name}
		}
		types = append(types, t)
	}
	byName := map[string]record{}
	for _, t := range types {
		byName[t.(record)["name"].(string)] = t.(record)
	}
	g.withoutHollowOverrides(types, byName)
	drawn, err := schemaOf(record{"types": types})
	if err != nil {
		return nil, err
	}
	drawn.versions, drawn.only = versions, only
	return drawn, nil
}

// schemaOf parses a schema and gives it an id.
func schemaOf(model record) (*drawnSchema, error) {
	text, err := json.Marshal(model)
	if err != nil {
		return nil, err
	}
	parser, err := typed.NewParser(typed.YAMLObject(text))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	return &drawnSchema{id: hex.EncodeToString(sum[:8]), model: model, parser: parser}, nil
}

func rootType(version string) string { return version + ".Widget" }

// relative is the type of another version of the same kind: some fields have another relationship, some are missing.
func (g *schemaGen) relative(root record) record {
	out := record{}
	for key, v := range root {
		out[key] = v
	}
	var fields []any
	for _, f := range root["fields"].([]any) {
		f := f.(record)
		t := f["type"].(record)
		named, ok := t["namedType"].(string)
		switch {
		case !ok && g.Intn(5) == 0 && (t["map"] != nil || t["list"] != nil):
			atomic := record{"elementRelationship": "atomic"}
			for key, v := range t {
				atomic[key] = v
			}
			fields = append(fields, record{"name": f["name"], "type": atomic})
		case !ok || named == "meta":
			fields = append(fields, f)
		case g.Intn(3) == 0:
			fields = append(fields, record{"name": f["name"], "type": record{"namedType": named, "elementRelationship": "atomic"}})
		case g.Intn(6) != 0:
			fields = append(fields, f)
		}
	}
	out["fields"] = fields
	return out
}

// with is a structure with one more field, in itself or in its spec.
func (g *schemaGen) with(root, field record, inSpec bool) record {
	out := maps.Clone(root)
	fields := slices.Clone(root["fields"].([]any))
	if inSpec {
		for i, f := range fields {
			if f := f.(record); f["name"] == "spec" {
				if spec, ok := f["type"].(record)["map"].(record); ok && spec["fields"] != nil {
					t := maps.Clone(f["type"].(record))
					t["map"] = g.with(spec, field, false)
					fields[i] = record{"name": "spec", "type": t}
					out["fields"] = fields
					return out
				}
			}
		}
	}
	out["fields"] = append(fields, field)
	return out
}

// successor is the type of another version in which any part of the object may have changed: relationships, keys,
// defaults, types of scalars, missing fields.
func (g *schemaGen) successor(atomMap record, depth int) record {
	out := maps.Clone(atomMap)
	if fields, ok := atomMap["fields"].([]any); ok {
		changed := []any{}
		for _, f := range fields {
			f := maps.Clone(f.(record))
			name := f["name"].(string)
			if depth == 0 && (name == "apiVersion" || name == "kind" || name == "metadata") {
				changed = append(changed, f)
				continue
			}
			if g.Intn(25) == 0 {
				continue
			}
			if _, ok := f["default"]; ok && g.Intn(4) == 0 {
				delete(f, "default")
			}
			f["type"] = g.successorRef(f["type"].(record), depth+1)
			changed = append(changed, f)
		}
		out["fields"] = changed
	}
	if element, ok := atomMap["elementType"].(record); ok {
		out["elementType"] = g.successorRef(element, depth+1)
	}
	if depth > 0 {
		switch g.Intn(12) {
		case 0:
			out["elementRelationship"] = "atomic"
		case 1:
			out["elementRelationship"] = "separable"
		case 2:
			out["elementType"] = record{"namedType": "__untyped_deduced_"}
		}
	}
	return out
}

// successorRef is a reference in another version.
func (g *schemaGen) successorRef(ref record, depth int) record {
	out := maps.Clone(ref)
	if ref["namedType"] != nil {
		if g.Intn(8) == 0 {
			out["elementRelationship"] = []string{"atomic", "separable"}[g.Intn(2)]
		}
		return out
	}
	if m, ok := ref["map"].(record); ok {
		out["map"] = g.successor(m, depth)
	}
	if list, ok := ref["list"].(record); ok {
		list = maps.Clone(list)
		keys, keyed := list["keys"].([]any)
		switch g.Intn(6) {
		case 0:
			list["elementRelationship"] = "atomic"
			delete(list, "keys")
		case 1:
			if keyed && len(keys) > 1 {
				list["keys"] = keys[:1]
			}
		}
		if element, ok := list["elementType"].(record); ok {
			list["elementType"] = g.successorRef(element, depth+1)
		}
		out["list"] = list
	}
	if ref["scalar"] != nil && g.Intn(15) == 0 {
		out["scalar"] = "untyped"
	}
	return out
}

// reference refers to a type by name, sometimes overriding its relationship, or contains an atom.
func (g *schemaGen) reference(depth int) record {
	if depth <= 0 && g.Intn(3) > 0 {
		return record{"scalar": g.scalar()}
	}
	switch n := g.Intn(10); {
	case n < 4:
		name := g.types[g.Intn(len(g.types))]
		if g.Intn(12) == 0 {
			name = []string{"__untyped_deduced_", "__untyped_atomic_"}[g.Intn(2)]
		}
		t := record{"namedType": name}
		if g.Intn(5) == 0 {
			t["elementRelationship"] = []string{"atomic", "separable"}[g.Intn(2)]
		}
		return t
	case n < 5:
		return record{"namedType": "__untyped_deduced_"}
	default:
		t := g.atom(depth - 1)
		if t["scalar"] == nil && g.Intn(12) == 0 {
			t["elementRelationship"] = []string{"atomic", "separable"}[g.Intn(2)]
		}
		return t
	}
}

// withoutHollowOverrides changes most overrides that leave nothing to merge: a reference to a scalar with an override
// has no type, and a list that is separable cannot be compared.
func (g *schemaGen) withoutHollowOverrides(v any, types map[string]record) {
	switch v := v.(type) {
	case record:
		target := v
		if name, ok := v["namedType"].(string); ok {
			target = types[name]
		}
		if v["elementRelationship"] == "separable" && target["map"] == nil && g.Intn(20) > 0 {
			v["elementRelationship"] = "atomic"
		}
		if v["elementRelationship"] != nil && v["namedType"] != nil && target["map"] == nil && target["list"] == nil && g.Intn(20) > 0 {
			delete(v, "elementRelationship")
		}
		for _, key := range sortedKeys(v) {
			g.withoutHollowOverrides(v[key], types)
		}
	case []any:
		for _, item := range v {
			g.withoutHollowOverrides(item, types)
		}
	}
}

func (g *schemaGen) scalar() string {
	return []string{"string", "string", "numeric", "boolean", "untyped"}[g.Intn(5)]
}

var fieldNames = []string{"a", "b", "c", "d", "name", "port", "protocol", "value"}

// atom draws an atom of any shape.
func (g *schemaGen) atom(depth int) record {
	if depth < 0 {
		return record{"scalar": g.scalar()}
	}
	switch n := g.Intn(22); {
	case n < 4:
		return record{"scalar": g.scalar()}
	case n < 10:
		return record{"map": g.structure(depth, g.some(fieldNames, 5))}
	case n < 12:
		m := record{"elementType": g.reference(depth)}
		g.relate(m)
		return record{"map": m}
	case n < 14:
		return record{"list": record{"elementRelationship": "associative", "elementType": record{"scalar": g.scalar()}}}
	case n < 18:
		return record{"list": g.keyed(depth)}
	case n < 20:
		return record{"list": record{"elementRelationship": "atomic", "elementType": g.reference(depth)}}
	default:
		// A value of several shapes, as converters create for nodes without a type.
		list := record{"elementRelationship": "atomic", "elementType": record{"namedType": "__untyped_atomic_"}}
		if g.Intn(4) == 0 {
			list = g.keyed(depth)
		}
		m := record{"elementType": record{"namedType": "__untyped_deduced_"}}
		if g.Intn(2) == 0 {
			m = g.structure(depth, g.some(fieldNames, 3))
		}
		return record{"scalar": "untyped", "list": list, "map": m}
	}
}

// relate sometimes gives a map a relationship.
func (g *schemaGen) relate(m record) {
	switch g.Intn(7) {
	case 0:
		m["elementRelationship"] = "atomic"
	case 1:
		m["elementRelationship"] = "separable"
	}
}

// structure is a map with declared fields, and sometimes with others.
func (g *schemaGen) structure(depth int, names []string) record {
	fields := []any{}
	for _, name := range names {
		fields = append(fields, record{"name": name, "type": g.reference(depth - 1)})
	}
	m := record{"fields": fields}
	switch g.Intn(8) {
	case 0:
		m["elementType"] = record{"namedType": "__untyped_deduced_"}
	case 1:
		m["elementType"] = g.reference(depth - 1)
	}
	g.relate(m)
	return m
}

// keyed is a list with one key or several, of which some have defaults.
func (g *schemaGen) keyed(depth int) record {
	item := g.structure(depth, []string{"value", "in"})
	fields := item["fields"].([]any)
	keys := []any{}
	for _, key := range g.some([]string{"name", "port", "protocol"}, 1+g.Intn(2)) {
		keys = append(keys, key)
		field := record{"name": key, "type": record{"scalar": "string"}}
		if key == "port" {
			field["type"] = record{"scalar": "numeric"}
		}
		if g.Intn(3) == 0 {
			field["default"] = map[string]any{"name": "a", "port": 80, "protocol": "TCP"}[key]
		}
		fields = append(fields, field)
	}
	item["fields"] = fields
	if g.Intn(3) > 0 {
		delete(item, "elementRelationship")
	}
	return record{"elementRelationship": "associative", "keys": keys, "elementType": record{"map": item}}
}

// some are up to count of the names, at least one, in their order.
func (g *schemaGen) some(names []string, count int) []string {
	var out []string
	for i, name := range names {
		if left := len(names) - i; g.Intn(left) < count-len(out) {
			out = append(out, name)
		}
	}
	return out
}
