package main

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// printTypes prints the structs of the internal version: a line for each, with its fields in the order of Go.
func printTypes(out io.Writer) {
	versions := map[string]string{
		"": "v1", "admissionregistration.k8s.io": "v1", "apps": "v1", "autoscaling": "v2", "batch": "v1",
		"certificates.k8s.io": "v1", "coordination.k8s.io": "v1", "discovery.k8s.io": "v1",
		"flowcontrol.apiserver.k8s.io": "v1", "networking.k8s.io": "v1", "node.k8s.io": "v1", "policy": "v1",
		"rbac.authorization.k8s.io": "v1", "resource.k8s.io": "v1", "scheduling.k8s.io": "v1", "storage.k8s.io": "v1",
	}
	lines := map[string]string{}
	for group, version := range versions {
		internal := legacyscheme.Scheme.KnownTypes(schema.GroupVersion{Group: group, Version: runtime.APIVersionInternal})
		for kind, external := range legacyscheme.Scheme.KnownTypes(schema.GroupVersion{Group: group, Version: version}) {
			if _, isKind := kinds[kind]; isKind {
				if own, found := internal[kind]; found {
					walk(own, external, lines)
				}
			}
		}
	}
	names := []string{}
	for name := range lines {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintln(out, name+lines[name])
	}
}

// name returns the name of an OpenAPI definition without `io.k8s.api.`: core.v1.Pod.
func name(t reflect.Type) string {
	path := strings.TrimPrefix(strings.TrimPrefix(t.PkgPath(), "k8s.io/api/"), "k8s.io/apimachinery/pkg/apis/")
	return strings.ReplaceAll(path, "/", ".") + "." + t.Name()
}

func walk(own, external reflect.Type, lines map[string]string) {
	if _, done := lines[name(external)]; done {
		return
	}
	lines[name(external)] = ""
	lines[name(external)] = fields(own, members(external, map[string]reflect.StructField{}), lines)
}

// members returns the fields of a struct of a version, and those of embedded ones.
func members(t reflect.Type, out map[string]reflect.StructField) map[string]reflect.StructField {
	for _, f := range reflect.VisibleFields(t) {
		if _, found := out[f.Name]; !found && len(f.Index) > 0 {
			out[f.Name] = f
		}
	}
	return out
}

func fields(own reflect.Type, external map[string]reflect.StructField, lines map[string]string) string {
	var out strings.Builder
	for i := 0; i < own.NumField(); i++ {
		f := own.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == "-" {
			continue
		}
		if f.Anonymous && tag == "" {
			if f.Type == reflect.TypeFor[metav1.TypeMeta]() {
				out.WriteString(" kind?:kind:s apiVersion?:apiVersion:s")
				continue
			}
			if f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[metav1.ObjectMeta]() {
				if e, found := external[f.Name]; found && e.Anonymous {
					walk(f.Type, e.Type, lines)
				}
				out.WriteString(fields(f.Type, external, lines))
				continue
			}
			if i == 0 && f.Type == reflect.TypeFor[metav1.ObjectMeta]() {
				// The members of an embedded struct without a tag are those of this one.
				fmt.Fprintf(&out, " +:metadata:%s", code(f.Type, f.Type, lines))
				continue
			}
		}
		printed := f.Name
		if tag != "" {
			printed = tag
		}
		if strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero") {
			printed += "?"
		}
		// The version has the field under the same name in lower camel case by default.
		key := "-"
		var inner reflect.Type
		if e, found := external[f.Name]; found {
			key, _, _ = strings.Cut(e.Tag.Get("json"), ",")
			if key == "" {
				key = "-"
			}
			inner = e.Type
		}
		if small := strings.ToLower(f.Name[:1]) + f.Name[1:]; key == small {
			fmt.Fprintf(&out, " %s:%s", printed, code(f.Type, inner, lines))
			continue
		}
		fmt.Fprintf(&out, " %s:%s:%s", printed, key, code(f.Type, inner, lines))
	}
	return out.String()
}

// code returns how a value is printed: s a string, n a number, b a boolean, q a quantity, i a number or a string, t a
// time, y bytes, x and r as the versions print it, {} or null if it is empty; with * a pointer, [] a list, {} a map;
// others are structs.
func code(own, external reflect.Type, lines map[string]string) string {
	switch own {
	case reflect.TypeFor[resource.Quantity]():
		return "q"
	case reflect.TypeFor[intstr.IntOrString]():
		return "i"
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		return "t"
	}
	if external != nil && own.Kind() != reflect.Pointer && external.Kind() == reflect.Pointer {
		external = external.Elem()
	}
	if external != nil && own.Kind() == reflect.Pointer && external.Kind() != reflect.Pointer {
		external = reflect.PointerTo(external)
	}
	elem := func() reflect.Type {
		if external == nil || external.Kind() != own.Kind() {
			return nil
		}
		return external.Elem()
	}
	switch own.Kind() {
	case reflect.Pointer:
		return "*" + code(own.Elem(), elem(), lines)
	case reflect.Slice:
		if own.Elem().Kind() == reflect.Uint8 {
			return "y"
		}
		return "[]" + code(own.Elem(), elem(), lines)
	case reflect.Map:
		return "{}" + code(own.Elem(), elem(), lines)
	case reflect.String:
		return "s"
	case reflect.Bool:
		return "b"
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Float64:
		return "n"
	case reflect.Struct:
		marshals := reflect.PointerTo(own).Implements(reflect.TypeFor[json.Marshaler]())
		isMeta := own.PkgPath() == "k8s.io/apimachinery/pkg/apis/meta/v1"
		if isMeta && !marshals {
			external = own
		}
		if external == nil || own == external && !isMeta || marshals || !isMeta && !strings.HasPrefix(external.PkgPath(), "k8s.io/api/") {
			if zero, _ := json.Marshal(reflect.New(own).Interface()); string(zero) == "null" {
				return "r"
			}
			return "x"
		}
		walk(own, external, lines)
		return name(external)
	}
	return "r"
}
