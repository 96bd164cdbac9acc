package main

import (
	"math/rand"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// valueGen generates values of a schema's types. Values come from small alphabets, so that objects have much in common.
type valueGen struct {
	*rand.Rand
	schema *schema.Schema
	// density is how many of ten declared fields, keys and items are present.
	density int
	// odd allows what validation accepts but people rarely write: nulls and empty containers.
	odd int
	// duplicates allows lists with items of one key.
	duplicates bool
}

var (
	someTexts   = []string{"a", "b", "c", "x<y", "é✓", "1", "", "with \"quotes\""}
	someNumbers = []any{int64(0), int64(1), int64(2), int64(80), int64(443), int64(-1), int64(1234567), int64(3000000000), 1.5, 0.25, 1e21, 1e-7}
	someKeys    = []string{"a", "b", "k8s.io/x", "é", "name", "port"}
)

func (g *valueGen) text() string { return someTexts[g.Intn(len(someTexts))] }

func (g *valueGen) number() any {
	if g.Intn(3) > 0 {
		return someNumbers[g.Intn(5)]
	}
	return someNumbers[g.Intn(len(someNumbers))]
}

// value draws a value of a type.
func (g *valueGen) value(ref schema.TypeRef, depth int) any {
	atom, ok := g.schema.Resolve(ref)
	if !ok || depth <= 0 {
		if ok && atom.Scalar != nil {
			return g.scalar(*atom.Scalar)
		}
		return nil
	}
	if g.odd > 0 && g.Intn(60) < g.odd {
		return nil
	}
	shapes := []string{}
	if atom.Map != nil {
		shapes = append(shapes, "map", "map")
	}
	if atom.List != nil {
		shapes = append(shapes, "list")
	}
	if atom.Scalar != nil {
		shapes = append(shapes, "scalar")
	}
	if len(shapes) == 0 {
		// Nothing is declared here, so any value is a mistake.
		return g.text()
	}
	switch shapes[g.Intn(len(shapes))] {
	case "map":
		return g.object(atom.Map, depth)
	case "list":
		return g.list(atom.List, depth)
	default:
		return g.scalar(*atom.Scalar)
	}
}

func (g *valueGen) scalar(s schema.Scalar) any {
	switch s {
	case schema.String:
		return g.text()
	case schema.Numeric:
		return g.number()
	case schema.Boolean:
		return g.Intn(2) == 0
	default:
		return []any{g.text(), g.number(), true}[g.Intn(3)]
	}
}

func (g *valueGen) object(m *schema.Map, depth int) map[string]any {
	out := map[string]any{}
	if g.odd > 0 && g.Intn(40) < g.odd {
		return out
	}
	for _, f := range m.Fields {
		if g.Intn(10) < g.density {
			out[f.Name] = g.value(f.Type, depth-1)
		}
	}
	if m.ElementType == (schema.TypeRef{}) {
		return out
	}
	for _, key := range someKeys {
		if _, declared := m.FindField(key); !declared && g.Intn(16) < g.density {
			out[key] = g.value(m.ElementType, depth-1)
		}
	}
	return out
}

func (g *valueGen) list(l *schema.List, depth int) []any {
	out := []any{}
	if g.odd > 0 && g.Intn(40) < g.odd {
		return out
	}
	count := g.Intn(4)
	if g.density > 4 {
		count = 1 + g.Intn(4)
	}
	seen := map[string]bool{}
	for range count {
		item := g.value(l.ElementType, depth-1)
		if l.ElementRelationship == schema.Associative {
			key, ok := g.identity(l, item)
			if !ok || seen[key] && !(g.duplicates && g.Intn(3) == 0) {
				continue
			}
			seen[key] = true
		}
		out = append(out, item)
	}
	return out
}

// identity distinguishes items of a list; false if the item cannot be in such a list.
func (g *valueGen) identity(l *schema.List, item any) (string, bool) {
	if len(l.Keys) == 0 {
		switch item.(type) {
		case nil, map[string]any, []any:
			return "", false
		}
		return textOf(item), true
	}
	object, ok := item.(map[string]any)
	if !ok {
		return "", false
	}
	atom, _ := g.schema.Resolve(l.ElementType)
	identity, any := "", false
	for _, key := range l.Keys {
		v, ok := object[key]
		if field, declared := atom.Map.FindField(key); !ok && declared && field.Default != nil {
			v, ok = field.Default, true
		}
		any = any || ok
		identity += key + textOf(v) + textOf(ok)
	}
	return identity, any
}

// places calls visit for every map and list of a value with its type, in a defined order.
func (g *valueGen) places(v any, ref schema.TypeRef, visit func(v any, atom schema.Atom)) {
	atom, ok := g.schema.Resolve(ref)
	if !ok {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		if atom.Map == nil {
			return
		}
		visit(v, atom)
		for _, key := range sortedKeys(v) {
			t := atom.Map.ElementType
			if field, declared := atom.Map.FindField(key); declared {
				t = field.Type
			}
			if key != "managedFields" && key != "apiVersion" && key != "kind" {
				g.places(v[key], t, visit)
			}
		}
	case []any:
		if atom.List == nil {
			return
		}
		for _, item := range v {
			g.places(item, atom.List.ElementType, visit)
		}
	}
}

// mutated is a copy of an object with some members changed, removed or added.
func (g *valueGen) mutated(object map[string]any, root schema.TypeRef, changes int) map[string]any {
	out := runtime.DeepCopyJSON(object)
	for range changes {
		type place struct {
			object map[string]any
			atom   schema.Atom
		}
		var all []place
		g.places(out, root, func(v any, atom schema.Atom) {
			if object, ok := v.(map[string]any); ok {
				all = append(all, place{object, atom})
			}
		})
		if len(all) == 0 {
			return out
		}
		at := all[g.Intn(len(all))]
		g.change(at.object, at.atom.Map)
	}
	return out
}

// change changes, removes or adds a member of an object.
func (g *valueGen) change(object map[string]any, m *schema.Map) {
	var names []string
	for _, f := range m.Fields {
		names = append(names, f.Name)
	}
	if m.ElementType != (schema.TypeRef{}) {
		names = append(names, someKeys...)
	}
	for _, key := range sortedKeys(object) {
		if !slices.Contains(names, key) {
			names = append(names, key)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return slices.Contains([]string{"apiVersion", "kind", "metadata", "managedFields", "uid"}, name)
	})
	if len(names) == 0 {
		return
	}
	name := names[g.Intn(len(names))]
	t := m.ElementType
	if field, declared := m.FindField(name); declared {
		t = field.Type
	}
	old, there := object[name]
	items, isList := old.([]any)
	switch {
	case there && g.Intn(3) == 0:
		delete(object, name)
	case isList && len(items) > 0 && g.Intn(2) == 0:
		object[name] = g.rearranged(items, t)
	default:
		object[name] = g.value(t, 4)
	}
}

// rearranged is a list with an item moved, removed or added.
func (g *valueGen) rearranged(items []any, ref schema.TypeRef) []any {
	out := slices.Clone(items)
	i, j := g.Intn(len(out)), g.Intn(len(out))
	switch g.Intn(3) {
	case 0:
		out[i], out[j] = out[j], out[i]
	case 1:
		out = slices.Delete(out, i, i+1)
	default:
		atom, ok := g.schema.Resolve(ref)
		if !ok || atom.List == nil {
			break
		}
		more := g.list(atom.List, 4)
		for _, item := range more {
			if atom.List.ElementRelationship == schema.Associative && !g.duplicates {
				identity, _ := g.identity(atom.List, item)
				if slices.ContainsFunc(out, func(old any) bool { had, _ := g.identity(atom.List, old); return had == identity }) {
					continue
				}
			}
			out = slices.Insert(out, g.Intn(len(out)+1), item)
		}
	}
	return out
}

// mistaken is a copy of an object with one mistake: an undeclared field, a value of a wrong type, a null where none is
// allowed, a duplicate item or one without its keys.
func (g *valueGen) mistaken(object map[string]any, root schema.TypeRef) map[string]any {
	out := runtime.DeepCopyJSON(object)
	var mistakes []func()
	g.places(out, root, func(v any, atom schema.Atom) {
		object, ok := v.(map[string]any)
		if !ok || atom.Map == nil {
			return
		}
		mistakes = append(mistakes, func() { object["noSuchField"] = "x" })
		for _, key := range sortedKeys(object) {
			if key == "apiVersion" || key == "kind" || key == "metadata" || key == "managedFields" {
				continue
			}
			mistakes = append(mistakes, func() {
				object[key] = []any{"not this", int64(7), true, []any{"a"}, map[string]any{"a": "b"}, 1.5}[g.Intn(6)]
			})
			if items, ok := object[key].([]any); ok {
				mistakes = append(mistakes,
					func() {
						if len(items) > 0 {
							object[key] = append(slices.Clone(items), items[g.Intn(len(items))])
						}
					},
					func() {
						object[key] = append(slices.Clone(items), []any{nil, map[string]any{}, []any{}, map[string]any{"name": nil}, "x"}[g.Intn(5)])
					})
			}
		}
	})
	if len(mistakes) > 0 {
		mistakes[g.Intn(len(mistakes))]()
	}
	return out
}
