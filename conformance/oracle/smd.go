package main

import (
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

// mapJSON leaves out unions: the conversion from OpenAPI never makes any.
func mapJSON(m *smdschema.Map) ordered {
	o := ordered{}
	if len(m.Fields) > 0 {
		fields := append([]smdschema.StructField(nil), m.Fields...)
		sort.Slice(fields, func(i, j int) bool { return fields[i].Name < fields[j].Name })
		list := make([]ordered, 0, len(fields))
		for _, f := range fields {
			field := ordered{{"name", f.Name}, {"type", refJSON(f.Type)}}
			if f.Default != nil {
				field = append(field, orderedField{"default", f.Default})
			}
			list = append(list, field)
		}
		o = append(o, orderedField{"fields", list})
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
