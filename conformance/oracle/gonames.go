package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	builtin "k8s.io/client-go/kubernetes/scheme"
)

// runGoNames prints facts about the Go types of built-in kinds that OpenAPI documents do not have. A line has the last
// three parts of a definition's name. The lines below it, indented by a blank, have its fields: the name, the Go type
// or "-", and the structs that are embedded in between, if there are any.
func runGoNames(args []string, in io.Reader, out *bufio.Writer) error {
	lines := map[string][]string{}
	seen := map[reflect.Type]bool{}
	for _, t := range builtin.Scheme.AllKnownTypes() {
		goNames(t, seen, lines)
	}
	for _, definition := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintln(out, definition)
		for _, line := range slices.Compact(slices.Sorted(slices.Values(lines[definition]))) {
			fmt.Fprintln(out, " "+line)
		}
	}
	return nil
}

func goNames(t reflect.Type, seen map[reflect.Type]bool, lines map[string][]string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] || !strings.HasPrefix(t.PkgPath(), "k8s.io/api") {
		return
	}
	seen[t] = true
	path := strings.Split(t.PkgPath(), "/")
	definition := strings.Join(append(path[len(path)-2:], t.Name()), ".")
	goFields(t, definition, "", seen, lines)
}

func goFields(t reflect.Type, definition, embedded string, seen map[reflect.Type]bool, lines map[string][]string) {
	for i := 0; i < t.NumField(); i++ {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" && strings.Contains(options, "inline") {
			goFields(field.Type, definition, strings.TrimPrefix(embedded+"."+field.Name, "."), seen, lines)
			continue
		}
		if name == "" || name == "-" {
			continue
		}
		goNames(field.Type, seen, lines)
		inner := field.Type
		for inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		text := inner.String()
		for inner.PkgPath() == "" && (inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice || inner.Kind() == reflect.Map) {
			inner = inner.Elem()
		}
		if inner.PkgPath() == "" && !strings.Contains(text, ".") || inner.Kind() == reflect.Struct && !strings.Contains(text, "map[v") {
			text = "-"
		}
		// Errors in the type of an object are reported before it is decoded.
		if embedded == "TypeMeta" || text == "-" && embedded == "" {
			continue
		}
		lines[definition] = append(lines[definition], strings.TrimSpace(name+" "+text+" "+embedded))
	}
}
