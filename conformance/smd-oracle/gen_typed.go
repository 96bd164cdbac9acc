package main

import (
	"errors"
	"math/rand"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// drawTyped generates calls of typed values: a pair of valid ones with all operations, one object with a mistake, and
// single calls on values that are not validated.
func drawTyped(name string, random *rand.Rand, s *drawnSchema) []record {
	version := s.versions[random.Intn(len(s.versions))]
	typeName := rootType(version)
	g := &valueGen{Rand: random, schema: &s.parser.Schema, density: 4 + random.Intn(4), odd: 2}
	t := s.parser.Type(typeName)
	draw := func() map[string]any {
		atom, _ := g.schema.Resolve(t.TypeRef)
		object := g.object(atom.Map, 5)
		delete(object, "metadata")
		return object
	}
	lhs := draw()
	rhs := g.mutated(lhs, t.TypeRef, 1+random.Intn(5))
	if random.Intn(3) == 0 {
		rhs = draw()
	}
	var records []record
	add := func(kind string, r record) {
		if r != nil {
			r["kind"], r["test"], r["source"] = kind, name, "generated"
			r["seq"] = len(records)
			records = append(records, r)
		}
	}
	add("typed", pair(random, s, typeName, lhs, rhs))
	add("validate", validation(s, typeName, g.mistaken(lhs, t.TypeRef)))
	g.duplicates, g.odd = true, 8
	for range 2 {
		lhs := g.mutated(lhs, t.TypeRef, 3)
		rhs := g.mutated(lhs, t.TypeRef, 3)
		if random.Intn(3) == 0 {
			rhs = g.mistaken(rhs, t.TypeRef)
		}
		call(random, s, typeName, lhs, rhs, add)
	}
	return records
}

// pair are the answers for two valid objects; nil if one is not, or if a call fails.
func pair(random *rand.Rand, s *drawnSchema, typeName string, lhs, rhs map[string]any) record {
	t := s.parser.Type(typeName)
	l, err := t.FromUnstructured(runtime.DeepCopyJSON(lhs))
	if err != nil {
		return nil
	}
	r, err := t.FromUnstructured(runtime.DeepCopyJSON(rhs))
	if err != nil {
		return nil
	}
	lhsSet, err := l.ToFieldSet()
	if err != nil {
		return nil
	}
	rhsSet, err := r.ToFieldSet()
	if err != nil {
		return nil
	}
	comparison, err := l.Compare(r)
	if err != nil {
		return nil
	}
	merged, err := l.Merge(r)
	if err != nil {
		return nil
	}
	part := partOf(random, lhsSet)
	return record{
		"schema": s.id, "type": typeName, "lhs": lhs, "rhs": rhs, "lhsSet": fieldsOf(lhsSet), "rhsSet": fieldsOf(rhsSet),
		"compare": comparisonOf(comparison), "merge": merged.AsValue().Unstructured(), "part": fieldsOf(part),
		"remove":          l.RemoveItems(part).AsValue().Unstructured(),
		"extract":         l.ExtractItems(part).AsValue().Unstructured(),
		"extractLeaves":   l.ExtractItems(part.Leaves()).AsValue().Unstructured(),
		"extractWithKeys": l.ExtractItems(part.Leaves(), typed.WithAppendKeyFields()).AsValue().Unstructured(),
		"sets": record{
			"union": fieldsOf(lhsSet.Union(rhsSet)), "intersection": fieldsOf(lhsSet.Intersection(rhsSet)),
			"difference": fieldsOf(lhsSet.Difference(rhsSet)), "recursiveDifference": fieldsOf(lhsSet.RecursiveDifference(part)),
			"leaves": fieldsOf(lhsSet.Leaves()), "ensureNamedFields": fieldsOf(part.EnsureNamedFieldsAreMembers(t.Schema, t.TypeRef)),
			"size": lhsSet.Size(),
		},
	}
}

// partOf are some paths of a set.
func partOf(random *rand.Rand, set *fieldpath.Set) *fieldpath.Set {
	part := fieldpath.NewSet()
	set.Iterate(func(path fieldpath.Path) {
		if random.Intn(3) == 0 {
			part.Insert(path.Copy())
		}
	})
	return part
}

// fieldsOf is a set in its JSON form; nil if it cannot be written.
func fieldsOf(set *fieldpath.Set) any {
	text, err := set.ToJSON()
	if err != nil {
		return nil
	}
	return rawJSON(text)
}

func comparisonOf(c *typed.Comparison) any {
	return record{"added": fieldsOf(c.Added), "modified": fieldsOf(c.Modified), "removed": fieldsOf(c.Removed)}
}

// validation is the result of validating an object, and its set if it is valid with duplicates allowed; nil if the
// results differ.
func validation(s *drawnSchema, typeName string, object map[string]any) record {
	t := s.parser.Type(typeName)
	steady := func(call func() error) (any, bool) {
		first := call()
		for range undeclaredAttempts * patience {
			if first == nil {
				break
			}
			if errorText(call()) != errorText(first) {
				return nil, false
			}
		}
		return partsOf(func() error { return first }), true
	}
	errs, ok := steady(func() error {
		_, err := t.FromUnstructured(object)
		return err
	})
	if !ok {
		return nil
	}
	r := record{"schema": s.id, "type": typeName, "object": object, "errors": errs}
	var v *typed.TypedValue
	withDuplicates, ok := steady(func() error {
		var err error
		v, err = t.FromUnstructured(object, typed.AllowDuplicates)
		return err
	})
	if !ok {
		return nil
	}
	r["errorsWithDuplicates"] = withDuplicates
	if withDuplicates == nil {
		set, err := v.ToFieldSet()
		if err != nil {
			r["setErrors"] = partsOf(func() error { return err })
			return r
		}
		if r["set"] = fieldsOf(set); r["set"] == nil {
			// A set that cannot be written is not recorded.
			return nil
		}
	}
	return r
}

// partsOf are the parts of the error of a call, sorted; nil if there is none.
func partsOf(call func() error) any {
	err := call()
	if err == nil {
		return nil
	}
	var list typed.ValidationErrors
	if !errors.As(err, &list) {
		return []string{err.Error()}
	}
	parts := make([]string, len(list))
	for i, part := range list {
		parts[i] = part.Error()
	}
	slices.Sort(parts)
	return parts
}

// call makes single calls with values that may be anything.
func call(random *rand.Rand, s *drawnSchema, typeName string, lhs, rhs map[string]any, add func(kind string, r record)) {
	t := s.parser.Type(typeName)
	of := func(v any) record {
		return record{"schema": s.id, "type": record{"namedType": typeName}, "value": v}
	}
	bare := func(v map[string]any) *typed.TypedValue {
		return typed.AsTypedUnvalidated(value.NewValueInterface(runtime.DeepCopyJSON(v)), t.Schema, t.TypeRef)
	}
	// Only calls that fail always or never, and always in the same way, have an answer.
	steady := func(r record, key string, call func() (any, error)) record {
		first, err := call()
		for range failingAttempts * patience {
			if err == nil {
				break
			}
			_, again := call()
			if again == nil || again.Error() != err.Error() {
				return nil
			}
		}
		r["error"] = nil
		if err != nil {
			r["error"], first = err.Error(), nil
		}
		r[key] = first
		return r
	}
	add("typed.compare", steady(record{"lhs": of(lhs), "rhs": of(rhs)}, "comparison", func() (any, error) {
		c, err := bare(lhs).Compare(bare(rhs))
		if err != nil {
			return nil, err
		}
		return comparisonOf(c), nil
	}))
	add("typed.merge", steady(record{"lhs": of(lhs), "rhs": of(rhs)}, "result", func() (any, error) {
		m, err := bare(lhs).Merge(bare(rhs))
		if err != nil {
			return nil, err
		}
		return of(m.AsValue().Unstructured()), nil
	}))
	set, err := bare(rhs).ToFieldSet()
	if err != nil || fieldsOf(set) == nil {
		return
	}
	add("typed.toFieldSet", record{"object": of(rhs), "set": fieldsOf(set), "error": nil})
	part := partOf(random, set)
	if random.Intn(4) == 0 {
		part = part.Union(fieldpath.SetFromValue(value.NewValueInterface(rhs)))
	}
	if random.Intn(2) == 0 {
		part = part.Leaves()
	}
	if fieldsOf(part) == nil {
		return
	}
	add("typed.removeItems", record{"object": of(lhs), "set": fieldsOf(part), "result": of(bare(lhs).RemoveItems(part).AsValue().Unstructured())})
	for _, keys := range []bool{false, true} {
		var options []typed.ExtractItemsOption
		if keys {
			options = append(options, typed.WithAppendKeyFields())
		}
		add("typed.extractItems", record{"object": of(lhs), "set": fieldsOf(part), "appendKeyFields": keys,
			"result": of(bare(lhs).ExtractItems(part, options...).AsValue().Unstructured())})
	}
	// The set comes from the other version of the kind, whose fields may have had another relationship.
	for _, version := range s.versions {
		if other := rootType(version); other != typeName {
			before := typed.AsTypedUnvalidated(value.NewValueInterface(runtime.DeepCopyJSON(rhs)), t.Schema, s.parser.Type(other).TypeRef)
			if had, err := before.ToFieldSet(); err == nil && fieldsOf(had) != nil {
				add("typed.reconcile", reconciled(of(lhs), bare(lhs), had))
			}
		}
	}
}

func reconciled(object record, live *typed.TypedValue, had *fieldpath.Set) record {
	r := record{"object": object, "set": fieldsOf(had), "changed": false, "error": nil, "result": nil}
	set, err := typed.ReconcileFieldSetWithSchema(had, live)
	if err != nil {
		r["error"] = errorText(err)
	} else if set != nil {
		r["changed"], r["result"] = true, fieldsOf(set)
	}
	return r
}

// drawSets generates two sets with unusual elements and the results of operations on them, and a string that is to be
// read as a set.
func drawSets(name string, random *rand.Rand) []record {
	var alphabet []fieldpath.PathElement
	for range 2 + random.Intn(4) {
		alphabet = append(alphabet, oddElement(random))
	}
	draw := func() *fieldpath.Set {
		set := fieldpath.NewSet()
		for range random.Intn(8) {
			var path fieldpath.Path
			for range 1 + random.Intn(4) {
				path = append(path, alphabet[random.Intn(len(alphabet))])
			}
			set.Insert(path)
		}
		return set
	}
	lhs, rhs := draw(), draw()
	if random.Intn(4) == 0 {
		rhs = rhs.Union(lhs)
	}
	var order, paths, probes []any
	for _, a := range alphabet[:min(3, len(alphabet))] {
		for _, b := range alphabet[:min(3, len(alphabet))] {
			order = append(order, record{"lhs": elementText(a), "rhs": elementText(b), "order": a.Compare(b)})
		}
	}
	lhs.Iterate(func(path fieldpath.Path) {
		paths = append(paths, record{"elements": elementTexts(path), "string": path.String()})
	})
	for range 5 {
		var path fieldpath.Path
		for range 1 + random.Intn(3) {
			path = append(path, alphabet[random.Intn(len(alphabet))])
		}
		probes = append(probes, record{"elements": elementTexts(path), "has": lhs.Has(path)})
	}
	text := func(set *fieldpath.Set) any {
		text, err := set.ToJSON()
		if err != nil {
			return nil
		}
		return string(text)
	}
	pair := record{
		"kind": "sets", "test": name, "lhs": text(lhs), "rhs": text(rhs),
		"union": text(lhs.Union(rhs)), "intersection": text(lhs.Intersection(rhs)), "difference": text(lhs.Difference(rhs)),
		"recursiveDifference": text(lhs.RecursiveDifference(rhs)), "leaves": text(lhs.Leaves()),
		"equal": lhs.Equals(rhs), "empty": lhs.Empty(), "size": lhs.Size(), "string": lhs.String(),
		"paths": orEmpty(paths), "probes": probes, "elementOrder": order,
	}
	input := oddSetText(random, 3)
	read := record{"kind": "set.fromJSON", "test": name, "seq": 1, "input": input, "error": nil}
	set := fieldpath.NewSet()
	if err := set.FromJSON(strings.NewReader(input)); err != nil {
		read["error"] = err.Error()
	} else {
		read["set"] = fieldsOf(set)
	}
	return []record{pair, read}
}

func orEmpty(list []any) []any {
	if list == nil {
		return []any{}
	}
	return list
}

func elementText(e fieldpath.PathElement) any {
	text, err := fieldpath.SerializePathElement(e)
	if err != nil {
		return nil
	}
	return text
}

func elementTexts(path fieldpath.Path) []any {
	texts := []any{}
	for _, e := range path {
		texts = append(texts, elementText(e))
	}
	return texts
}

var oddTexts = []string{
	"f:a", "f:.", "f:", "f:f:a", "f:x<y>&z", "f:é\u2028", "f:with \"quotes\"", "f:\x01", "f:k8s.io/x",
	`k:{"name":"a"}`, `k:{"port":80,"protocol":"TCP"}`, `k:{"é":1.5}`, `k:{"a":null}`, `k:{"a":[1],"b":{"c":true}}`, `k:{"a<b":"x<y"}`, `k:{"a":1,"a":2}`,
	`v:1`, `v:-1`, `v:1.5`, `v:1e30`, `v:1e-7`, `v:123456789`, `v:"a"`, `v:"x<y\u2028"`, `v:true`, `v:false`, `v:null`, `v:[1,"a"]`, `v:{"a":1}`, `v:{}`,
	"i:0", "i:1", "i:-1", "i:2147483648",
}

func oddElement(random *rand.Rand) fieldpath.PathElement {
	for {
		if e, err := fieldpath.DeserializePathElement(oddTexts[random.Intn(len(oddTexts))]); err == nil {
			return e
		}
	}
}

// oddSetText is JSON that often is a set: keys unsorted, duplicate, of unknown kinds or without a kind, with blanks.
func oddSetText(random *rand.Rand, depth int) string {
	blank := func() string { return []string{"", "", "", " ", "\n"}[random.Intn(5)] }
	var b strings.Builder
	b.WriteString("{" + blank())
	for i := range random.Intn(5) {
		if i > 0 {
			b.WriteString("," + blank())
		}
		key := oddTexts[random.Intn(len(oddTexts))]
		switch random.Intn(14) {
		case 0:
			key = []string{"z:unknown", "q:", "."}[random.Intn(3)]
		case 1:
			key = "."
		case 2:
			key = []string{"i:+5", "i:007", "v: 1.0 ", `k:{"b":1,"a":2}`, "v:-0", "v:9007199254740993", `k: {"a" : 1 } `, "k:{}", "k:null"}[random.Intn(9)]
		case 3:
			if random.Intn(4) == 0 {
				key = []string{"", "f", "fa", "x", "i:", "i:a", "i:1.5", "v:", "v:{", "v:1 2", "k:[1]", "k:1", `k:{"a":1}x`}[random.Intn(13)]
			}
		}
		b.WriteString(textOf(key) + blank() + ":" + blank())
		switch n := random.Intn(24); {
		case n == 0:
			b.WriteString("null")
		case n == 1 && random.Intn(3) == 0:
			b.WriteString([]string{"1", "[]", `"a"`, "true", "", "{"}[random.Intn(6)])
		case n < 14 && depth > 0:
			b.WriteString(oddSetText(random, depth-1))
		default:
			b.WriteString("{" + blank() + "}")
		}
	}
	b.WriteString(blank() + "}")
	return b.String()
}
