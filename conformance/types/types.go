package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientgo "k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// scheme has all kinds of Kubernetes, including definitions and APIServices.
var scheme = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	adders := []func(*runtime.Scheme) error{clientgo.AddToScheme, apiextensions.AddToScheme, apiregistration.AddToScheme}
	for _, add := range adders {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	return scheme
}()

// Types whose JSON is not that of a struct, with their letters.
var special = map[reflect.Type]string{
	reflect.TypeFor[metav1.Time]():          "t",
	reflect.TypeFor[metav1.MicroTime]():     "u",
	reflect.TypeFor[metav1.Duration]():      "d",
	reflect.TypeFor[resource.Quantity]():    "q",
	reflect.TypeFor[intstr.IntOrString]():   "o",
	reflect.TypeFor[metav1.FieldsV1]():      "j",
	reflect.TypeFor[runtime.RawExtension](): "r",
	reflect.TypeFor[apiextensions.JSON]():   "j",
}

// Types that JSON represents as a schema or as something else, with their letters.
var unions = map[reflect.Type]string{
	reflect.TypeFor[apiextensions.JSONSchemaPropsOrBool]():        "B",
	reflect.TypeFor[apiextensions.JSONSchemaPropsOrArray]():       "A",
	reflect.TypeFor[apiextensions.JSONSchemaPropsOrStringArray](): "T",
}

// tables are the messages of the built-in kinds, by name.
type tables map[string]string

// nameOf returns the name of a message: group, version and type, `apps/v1.Deployment`.
func nameOf(t reflect.Type) string {
	parts := strings.Split(t.PkgPath(), "/")
	return strings.Join(parts[len(parts)-2:], "/") + "." + t.Name()
}

// kind returns the letters of a member's type, and records the messages to which it leads.
func (tables tables) kind(t reflect.Type) (string, error) {
	if letters, found := special[t]; found {
		return letters, nil
	}
	if letter, found := unions[t]; found {
		props := reflect.TypeFor[apiextensions.JSONSchemaProps]()
		return letter + nameOf(props), tables.message(props)
	}
	switch t.Kind() {
	case reflect.String:
		return "s", nil
	case reflect.Bool:
		return "b", nil
	case reflect.Int32, reflect.Int64:
		return "i", nil
	case reflect.Float64:
		return "f", nil
	case reflect.Pointer:
		below, err := tables.kind(t.Elem())
		return "*" + below, err
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "y", nil
		}
		below, err := tables.kind(t.Elem())
		if _, marshals := reflect.New(t).Interface().(interface{ Marshal() ([]byte, error) }); marshals {
			// The list is a message with one member.
			return "[1" + below, err
		}
		return "[" + below, err
	case reflect.Map:
		below, err := tables.kind(t.Elem())
		return "{" + below, err
	case reflect.Struct:
		return "@" + nameOf(t), tables.message(t)
	}
	return "", fmt.Errorf("%s: a member of this type", t)
}

func (tables tables) message(t reflect.Type) error {
	name := nameOf(t)
	if _, found := tables[name]; found {
		return nil
	}
	tables[name] = ""
	if _, own := reflect.New(t).Interface().(json.Marshaler); own {
		return fmt.Errorf("%s has JSON of its own", name)
	}
	type member struct {
		number int
		text   string
	}
	var members []member
	for i := range t.NumField() {
		field := t.Field(i)
		tag := strings.Split(field.Tag.Get("protobuf"), ",")
		if len(tag) < 2 {
			if field.Type != reflect.TypeFor[metav1.TypeMeta]() && field.Tag.Get("json") != "-" {
				return fmt.Errorf("%s.%s has no number", name, field.Name)
			}
			continue
		}
		number, err := strconv.Atoi(tag[1])
		if err != nil {
			return err
		}
		names := strings.Split(field.Tag.Get("json"), ",")
		letters, err := tables.kind(field.Type)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", name, field.Name, err)
		}
		switch {
		case names[0] == "":
			letters = "^" + letters
		case slices.Contains(names, "omitzero"):
			letters = "?" + letters
		case slices.Contains(names, "omitempty"):
		default:
			letters = "!" + letters
		}
		members = append(members, member{number, fmt.Sprintf(" %d:%s:%s", number, names[0], letters)})
	}
	sort.Slice(members, func(i, j int) bool { return members[i].number < members[j].number })
	for _, member := range members {
		tables[name] += member.text
	}
	return nil
}

// kinds are the kinds of the groups of Kubernetes with their types.
func kinds() []schema.GroupVersionKind {
	var all []schema.GroupVersionKind
	for kind, t := range scheme.AllKnownTypes() {
		isBuiltIn := strings.HasPrefix(t.PkgPath(), "k8s.io/api/") ||
			t == reflect.TypeFor[apiextensions.CustomResourceDefinition]() || t == reflect.TypeFor[apiregistration.APIService]()
		if kind.Version == runtime.APIVersionInternal || !isBuiltIn {
			continue
		}
		if _, list := t.FieldByName("ListMeta"); list {
			continue
		}
		all = append(all, kind)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].String() < all[j].String() })
	return all
}

// protobufTable prints the members of all messages of which built-in kinds consist, a message per line, sorted, and the
// message of each kind.
func protobufTable(output io.Writer) error {
	tables := tables{}
	for _, kind := range kinds() {
		t := scheme.AllKnownTypes()[kind]
		if err := tables.message(t); err != nil {
			return err
		}
		// Packages have other names than groups.
		if name := kind.GroupVersion().String() + "." + kind.Kind; name != nameOf(t) {
			tables[name] = " @" + nameOf(t)
		}
	}
	if err := tables.message(reflect.TypeFor[metav1.DeleteOptions]()); err != nil {
		return err
	}
	names := make([]string, 0, len(tables))
	for name := range tables {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if _, err := fmt.Fprintln(output, name+tables[name]); err != nil {
			return err
		}
	}
	return nil
}

// Sample is an object of a built-in kind in both forms.
type Sample struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Protobuf   string          `json:"protobuf"`
	JSON       json.RawMessage `json:"json"`
	Again      string          `json:"again"`
}

// protobufSamples prints objects of each kind with random members: protobuf, the JSON of what Go reads from it, and the
// protobuf of what Go reads from that JSON.
func protobufSamples(count int, output io.Writer) error {
	encoder := json.NewEncoder(output)
	codec := protobuf.NewSerializer(scheme, scheme)
	random := rand.New(rand.NewSource(1))
	for _, kind := range kinds() {
		for n := range count {
			object, err := scheme.New(kind)
			if err != nil {
				return err
			}
			// The first one is empty.
			fill(reflect.ValueOf(object).Elem(), random, n*2)
			if definition, found := object.(*apiextensions.CustomResourceDefinition); found && n > 0 {
				// Schemas are so deep that chance alone hardly reaches them.
				props := &apiextensions.JSONSchemaProps{}
				for i := range reflect.ValueOf(props).Elem().NumField() {
					fill(reflect.ValueOf(props).Elem().Field(i), random, min(n+1, 5))
				}
				definition.Spec.Versions = append(definition.Spec.Versions, apiextensions.CustomResourceDefinitionVersion{
					Schema: &apiextensions.CustomResourceValidation{OpenAPIV3Schema: props},
				})
			}
			object.GetObjectKind().SetGroupVersionKind(kind)
			var message strings.Builder
			if err := codec.Encode(object, &message); err != nil {
				return fmt.Errorf("%s: %w", kind, err)
			}
			read, _, err := codec.Decode([]byte(message.String()), &kind, nil)
			if err != nil {
				return fmt.Errorf("%s: %w", kind, err)
			}
			read.GetObjectKind().SetGroupVersionKind(kind)
			text, err := json.Marshal(read)
			if err != nil {
				return fmt.Errorf("%s: %w", kind, err)
			}
			again, err := scheme.New(kind)
			if err != nil {
				return err
			}
			if err := json.Unmarshal(text, again); err != nil {
				return fmt.Errorf("%s: %w", kind, err)
			}
			var written strings.Builder
			if err := codec.Encode(again, &written); err != nil {
				return fmt.Errorf("%s: %w", kind, err)
			}
			version, name := kind.ToAPIVersionAndKind()
			encoded := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
			sample := Sample{version, name, encoded(message.String()), text, encoded(written.String())}
			if err := encoder.Encode(sample); err != nil {
				return err
			}
		}
	}
	return nil
}

var texts = []string{"", "a", "b c", "ü", "<&>", "0"}

// fill gives members of a value random content, up to a depth.
func fill(value reflect.Value, random *rand.Rand, depth int) {
	if depth == 0 || random.Intn(3) == 0 {
		return
	}
	switch value.Type() {
	case reflect.TypeFor[metav1.TypeMeta]():
		return
	case reflect.TypeFor[metav1.Time]():
		value.Set(reflect.ValueOf(metav1.Unix(random.Int63n(1<<32), random.Int63n(1e9))))
		return
	case reflect.TypeFor[metav1.MicroTime]():
		value.Set(reflect.ValueOf(metav1.NewMicroTime(time.UnixMicro(random.Int63n(1 << 52)))))
		return
	case reflect.TypeFor[resource.Quantity]():
		value.Set(reflect.ValueOf(resource.MustParse([]string{"0", "1", "100m", "1.5Gi", "2e3"}[random.Intn(5)])))
		return
	case reflect.TypeFor[intstr.IntOrString]():
		if random.Intn(2) == 0 {
			value.Set(reflect.ValueOf(intstr.FromInt32(int32(random.Intn(3) - 1))))
		} else {
			value.Set(reflect.ValueOf(intstr.FromString(texts[random.Intn(len(texts))])))
		}
		return
	case reflect.TypeFor[metav1.FieldsV1]():
		value.Set(reflect.ValueOf(metav1.FieldsV1{Raw: []byte(`{"f:b":{},"f:a":{"k:{\"x\":\"<\"}":{}}}`)}))
		return
	case reflect.TypeFor[apiextensions.JSON]():
		raw := []string{`{"a":[1,null]}`, `"\u003c"`, "null", "1.5", ""}[random.Intn(5)]
		value.Set(reflect.ValueOf(apiextensions.JSON{Raw: []byte(raw)}))
		return
	case reflect.TypeFor[runtime.RawExtension]():
		value.Set(reflect.ValueOf(runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"X","a":[1,null]}`)}))
		return
	}
	switch value.Kind() {
	case reflect.String:
		value.SetString(texts[random.Intn(len(texts))])
	case reflect.Bool:
		value.SetBool(random.Intn(2) == 0)
	case reflect.Int32:
		value.SetInt(int64(random.Intn(5)) - 2)
	case reflect.Int64:
		value.SetInt((int64(random.Intn(5)) - 2) << (random.Intn(3) * 30))
	case reflect.Float64:
		value.SetFloat(float64(random.Intn(9)) / 4)
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		fill(value.Elem(), random, depth-1)
	case reflect.Slice:
		if value.Type().Elem().Kind() == reflect.Uint8 {
			value.SetBytes([]byte(texts[random.Intn(len(texts))]))
			return
		}
		value.Set(reflect.MakeSlice(value.Type(), random.Intn(3), 3))
		for i := range value.Len() {
			fill(value.Index(i), random, depth-1)
		}
	case reflect.Map:
		value.Set(reflect.MakeMap(value.Type()))
		for range random.Intn(3) {
			key, item := reflect.New(value.Type().Key()).Elem(), reflect.New(value.Type().Elem()).Elem()
			key.SetString(texts[random.Intn(len(texts))])
			fill(item, random, depth-1)
			value.SetMapIndex(key, item)
		}
	case reflect.Struct:
		for i := range value.NumField() {
			if value.Type().Field(i).IsExported() {
				fill(value.Field(i), random, depth-1)
			}
		}
	}
}
