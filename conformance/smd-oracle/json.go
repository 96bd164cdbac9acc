package main

import (
	"encoding/json"
	"maps"
	"slices"

	kjson "k8s.io/apimachinery/pkg/util/json"
)

// textOf is the JSON of a value.
func textOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// fromJSON reads a value as apimachinery does: numbers that are integers are int64.
func fromJSON(text string) any {
	var v any
	if err := kjson.Unmarshal([]byte(text), &v); err != nil {
		return nil
	}
	return v
}

// rawJSON is JSON that is written unchanged.
func rawJSON(text []byte) any { return json.RawMessage(text) }
