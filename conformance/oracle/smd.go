package main

import (
	"fmt"
	"math"
	"sort"

	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"
)

// smdJSON is the usual YAML form of the schema, as JSON. Types and fields are sorted by name: upstream leaves them in
// the random order of Go's maps.
func smdJSON(s *smdschema.Schema) any {
	types := append([]smdschema.TypeDef(nil), s.Types...)
	sort.Slice(types, func(i, j int) bool { return types[i].Name < types[j].Name })
	list := make([]ordered, 0, len(types))
	for _, t := range types {
		list = append(list, append(ordered{{"name", t.Name}}, atomJSON(t.Atom)...))
	}
	return ordered{{"types", list}}
}

func atomJSON(a smdschema.Atom) ordered {
	var o ordered
	if a.Scalar != nil {
		o = append(o, orderedField{"scalar", *a.Scalar})
	}
	if a.List != nil {
		o = append(o, orderedField{"list", listJSON(a.List)})
	}
	if a.Map != nil {
		o = append(o, orderedField{"map", mapJSON(a.Map)})
	}
	return o
}

func listJSON(l *smdschema.List) ordered {
	o := ordered{}
	if ref := refJSON(l.ElementType); len(ref) > 0 {
		o = append(o, orderedField{"elementType", ref})
	}
	if l.ElementRelationship != "" {
		o = append(o, orderedField{"elementRelationship", l.ElementRelationship})
	}
	if len(l.Keys) > 0 {
		o = append(o, orderedField{"keys", l.Keys})
	}
	return o
}

func mapJSON(m *smdschema.Map) ordered {
	o := ordered{}
	if len(m.Fields) > 0 {
		fields := append([]smdschema.StructField(nil), m.Fields...)
		sort.Slice(fields, func(i, j int) bool { return fields[i].Name < fields[j].Name })
		list := make([]ordered, 0, len(fields))
		for _, f := range fields {
			field := ordered{{"name", f.Name}, {"type", refJSON(f.Type)}}
			if f.Default != nil {
				field = append(field, orderedField{"default", plainJSON(f.Default)})
			}
			list = append(list, field)
		}
		o = append(o, orderedField{"fields", list})
	}
	if len(m.Unions) > 0 {
		o = append(o, orderedField{"unions", unionsJSON(m.Unions)})
	}
	if ref := refJSON(m.ElementType); len(ref) > 0 {
		o = append(o, orderedField{"elementType", ref})
	}
	if m.ElementRelationship != "" {
		o = append(o, orderedField{"elementRelationship", m.ElementRelationship})
	}
	return o
}

func refJSON(r smdschema.TypeRef) ordered {
	o := ordered{}
	if r.NamedType != nil {
		o = append(o, orderedField{"namedType", *r.NamedType})
	}
	o = append(o, atomJSON(r.Inlined)...)
	if r.ElementRelationship != nil {
		o = append(o, orderedField{"elementRelationship", *r.ElementRelationship})
	}
	return o
}

func unionsJSON(unions []smdschema.Union) []ordered {
	list := make([]ordered, 0, len(unions))
	for _, u := range unions {
		union := ordered{}
		if u.Discriminator != nil {
			union = append(union, orderedField{"discriminator", *u.Discriminator})
		}
		if u.DeduceInvalidDiscriminator {
			union = append(union, orderedField{"deduceInvalidDiscriminator", true})
		}
		if len(u.Fields) > 0 {
			fields := make([]ordered, 0, len(u.Fields))
			for _, f := range u.Fields {
				fields = append(fields, ordered{{"fieldName", f.FieldName}, {"discriminatorValue", f.DiscriminatorValue}})
			}
			union = append(union, orderedField{"fields", fields})
		}
		list = append(list, union)
	}
	return list
}

// takeUnions removes the unions of a schema and returns whether there were any.
func takeUnions(s *smdschema.Schema) (any bool) {
	var atom func(smdschema.Atom)
	atom = func(a smdschema.Atom) {
		if a.List != nil {
			atom(a.List.ElementType.Inlined)
		}
		if a.Map != nil {
			any = any || len(a.Map.Unions) > 0
			a.Map.Unions = nil
			for _, f := range a.Map.Fields {
				atom(f.Type.Inlined)
			}
			atom(a.Map.ElementType.Inlined)
		}
	}
	for _, t := range s.Types {
		atom(t.Atom)
	}
	return any
}

// plainJSON makes a value printable: maps read from YAML may have keys of any type, and numbers that JSON lacks.
func plainJSON(value any) any {
	switch v := value.(type) {
	case map[any]any:
		members := make(map[string]any, len(v))
		for key, member := range v {
			members[fmt.Sprint(key)] = plainJSON(member)
		}
		return members
	case map[string]any:
		members := make(map[string]any, len(v))
		for key, member := range v {
			members[key] = plainJSON(member)
		}
		return members
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = plainJSON(item)
		}
		return items
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprint(v)
		}
	}
	return value
}
