package main

import (
	"bytes"
	"fmt"
	"math/rand"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// setSize is a case of upstream's BenchmarkFieldSet: the number and length of paths.
type setSize struct{ size, minLen, maxLen int }

var setSizes = []setSize{{10, 1, 2}, {20, 2, 3}, {50, 2, 4}, {100, 3, 6}, {500, 3, 7}, {1000, 3, 8}}

// operandsPerSize is the number of operands of each size; an operation uses them in a fixed, non-sequential order.
const operandsPerSize = 64

// setOperand is one random set: the paths as they are inserted, and the set.
type setOperand struct {
	paths      []fieldpath.Path
	set        *fieldpath.Set
	serialized []byte
}

// benchAlphabet are path elements of the kinds that upstream's benchmark mixes: plain names, keys, values and indices.
func benchAlphabet() []fieldpath.PathElement {
	var all []fieldpath.PathElement
	for _, name := range []string{"name", "kind", "spec", "port", "host", "path", "selectorForEverythingThatIsLong", "STATUS_WITH_LARGE_LETTERS"} {
		all = append(all, fieldpath.PathElement{FieldName: &name})
	}
	for _, key := range [][]any{
		{"name", "первый"}, {"name", "第二"}, {"name", "第三の"}, {"name", "네번째"}, {"name", "الخامس"}, {"name", "sixth"}, {"name", "seventh"},
		{"port", 8443, "protocol", "tcp"}, {"port", 8443, "protocol", "udp"}, {"key", " blanks around "}, {"lang", "de-AT"}, {"smile-key", "smile-🙂"},
	} {
		all = append(all, fieldpath.PathElement{Key: fieldpath.KeyByFields(key...)})
	}
	for _, v := range []any{7, 8, 9, "xx", "xy", true, 0, -1, 2.71828, "text with blanks", "text with \"quotes\"", "wide-text-你好", false} {
		item := value.NewValueInterface(v)
		all = append(all, fieldpath.PathElement{Value: &item})
	}
	for _, i := range []int{1, 2, 3, 4, 0, 5, 100, 2147483648} {
		all = append(all, fieldpath.PathElement{Index: &i})
	}
	return all
}

// setOperands builds the operands of a size, the same in every run.
func setOperands(here setSize) []setOperand {
	random := rand.New(rand.NewSource(int64(here.size)))
	alphabet := benchAlphabet()
	operands := make([]setOperand, operandsPerSize)
	for i := range operands {
		set := fieldpath.NewSet()
		paths := make([]fieldpath.Path, here.size)
		for j := range paths {
			paths[j] = make(fieldpath.Path, here.minLen+random.Intn(here.maxLen-here.minLen))
			for k := range paths[j] {
				paths[j][k] = alphabet[random.Intn(len(alphabet))]
			}
			set.Insert(paths[j])
		}
		serialized, err := set.ToJSON()
		if err != nil {
			panic(err)
		}
		operands[i] = setOperand{paths, set, serialized}
	}
	return operands
}

// setBenches are upstream's BenchmarkFieldSet, with operands that are the same in every run.
func setBenches() []bench {
	var all []bench
	for _, here := range setSizes {
		var operands []setOperand
		add := func(kind string, operation func(a, b *setOperand, round int) error) {
			all = append(all, bench{fmt.Sprintf("Set/%s-%d", kind, here.size), func() (func(int) error, error) {
				if operands == nil {
					operands = setOperands(here)
				}
				return func(round int) error {
					return operation(&operands[round*7%operandsPerSize], &operands[(round*11+3)%operandsPerSize], round)
				}, nil
			}})
		}
		add("insert", func(a, _ *setOperand, _ int) error {
			set := fieldpath.NewSet()
			for _, path := range a.paths {
				set.Insert(path)
			}
			return nil
		})
		add("has", func(a, b *setOperand, round int) error {
			a.set.Has(b.paths[round%len(b.paths)])
			return nil
		})
		add("serialize", func(a, _ *setOperand, _ int) error {
			_, err := a.set.ToJSON()
			return err
		})
		add("deserialize", func(a, _ *setOperand, _ int) error {
			return fieldpath.NewSet().FromJSON(bytes.NewReader(a.serialized))
		})
		add("union", func(a, b *setOperand, _ int) error { a.set.Union(b.set); return nil })
		add("intersection", func(a, b *setOperand, _ int) error { a.set.Intersection(b.set); return nil })
		add("difference", func(a, b *setOperand, _ int) error { a.set.Difference(b.set); return nil })
		add("recursive-difference", func(a, b *setOperand, _ int) error { a.set.RecursiveDifference(b.set); return nil })
		add("leaves", func(a, _ *setOperand, _ int) error { a.set.Leaves(); return nil })
	}
	return all
}

// recordedSets are upstream's field sets of real objects.
func (f *benchFolder) recordedSets() []bench {
	var all []bench
	for _, name := range []string{"podset", "nodeset", "endpointsset", "prometheus-crdset"} {
		add := func(kind string, make func(text []byte, set *fieldpath.Set) func(int) error) {
			all = append(all, bench{"FieldsV1/" + kind + "-" + name, func() (func(int) error, error) {
				text, err := f.read(name + ".json")
				if err != nil {
					return nil, err
				}
				set := fieldpath.NewSet()
				if err := set.FromJSON(bytes.NewReader(text)); err != nil {
					return nil, err
				}
				return make(text, set), nil
			}})
		}
		add("decode", func(text []byte, _ *fieldpath.Set) func(int) error {
			return func(int) error { return fieldpath.NewSet().FromJSON(bytes.NewReader(text)) }
		})
		add("encode", func(_ []byte, set *fieldpath.Set) func(int) error {
			return func(int) error {
				_, err := set.ToJSON()
				return err
			}
		})
	}
	return all
}
