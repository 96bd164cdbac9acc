package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// listSchema has a list by name, a set and a map.
const listSchema = `types:
- name: root
  map:
    fields:
    - name: items
      type:
        list:
          elementRelationship: associative
          keys: [name]
          elementType: {namedType: item}
    - name: set
      type:
        list:
          elementRelationship: associative
          elementType: {scalar: string}
    - name: map
      type:
        map:
          elementType: {namedType: item}
- name: item
  map:
    fields:
    - name: name
      type: {scalar: string}
    - name: port
      type: {scalar: numeric}
    - name: value
      type: {scalar: string}
`

// largeObject is a generated object: its type is deduced, of upstream's Pod, or of listSchema.
type largeObject struct {
	name     string
	typeName string
	object   map[string]any
}

func largeObjects() []largeObject {
	return []largeObject{
		{"Deduced1MB", "", deducedObject(24, 400)},
		{"Pod1MB", "io.k8s.api.core.v1.Pod", podObject(1400)},
		{"ListMap1000", "root", map[string]any{"items": listItems(1000)}},
		{"ListMap10000", "root", map[string]any{"items": listItems(10000)}},
		{"Set1000", "root", map[string]any{"set": texts(1000)}},
		{"Set10000", "root", map[string]any{"set": texts(10000)}},
		{"Map10000", "root", map[string]any{"map": mapEntries(10000)}},
	}
}

func deducedObject(groups, entries int) map[string]any {
	spec := map[string]any{}
	for g := range groups {
		group := map[string]any{}
		for e := range entries {
			group[fmt.Sprintf("entry-%04d", e)] = map[string]any{
				"name": fmt.Sprintf("entry-%04d-of-%02d", e, g), "port": int64(e), "enabled": e%2 == 0, "weight": float64(e) + 0.5,
				"labels": map[string]any{"app": "sample", "tier": fmt.Sprintf("tier-%d", e%7)},
			}
		}
		spec[fmt.Sprintf("group-%02d", g)] = group
	}
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "large"}, "spec": spec}
}

func podObject(containers int) map[string]any {
	var list []any
	for c := range containers {
		var env, ports []any
		for e := range 8 {
			env = append(env, map[string]any{"name": fmt.Sprintf("VARIABLE_%d", e), "value": fmt.Sprintf("value %d of container %d", e, c)})
		}
		for p := range 2 {
			ports = append(ports, map[string]any{"containerPort": int64(8000 + p), "protocol": "TCP", "name": fmt.Sprintf("port-%d", p)})
		}
		list = append(list, map[string]any{
			"name": fmt.Sprintf("container-%04d", c), "image": "registry.example.com/image:1.0", "args": []any{"--verbose", "--port=8000"}, "env": env, "ports": ports,
			"resources": map[string]any{"limits": map[string]any{"cpu": "1", "memory": "1Gi"}},
		})
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "large", "namespace": "default"},
		"spec": map[string]any{"containers": list, "restartPolicy": "Always"},
	}
}

func listItems(count int) []any {
	items := make([]any, count)
	for i := range items {
		items[i] = map[string]any{"name": fmt.Sprintf("item-%05d", i*7919%count), "port": int64(i), "value": fmt.Sprintf("value-%d", i)}
	}
	return items
}

func texts(count int) []any {
	items := make([]any, count)
	for i := range items {
		items[i] = fmt.Sprintf("item-%05d", i*7919%count)
	}
	return items
}

func mapEntries(count int) map[string]any {
	entries := map[string]any{}
	for _, item := range listItems(count) {
		entries[item.(map[string]any)["name"].(string)] = item
	}
	return entries
}

func (f *benchFolder) typeOf(o largeObject) (typed.ParseableType, error) {
	switch o.typeName {
	case "":
		return typed.DeducedParseableType, nil
	case "root":
		p, err := typed.NewParser(listSchema)
		if err != nil {
			return typed.ParseableType{}, err
		}
		return p.Type("root"), nil
	default:
		p, err := f.parser("k8s-schema.yaml")
		if err != nil {
			return typed.ParseableType{}, err
		}
		return p.Type(o.typeName), nil
	}
}

// large are objects of a megabyte and lists of ten thousand items.
func (f *benchFolder) large() []bench {
	var all []bench
	for _, o := range largeObjects() {
		for _, s := range sequences {
			if s.name == "ApplyTwiceNoCompare" || s.name == "UpdateVersion" {
				continue
			}
			all = append(all, bench{o.name + "/" + s.name, func() (func(int) error, error) {
				t, err := f.typeOf(o)
				if err != nil {
					return nil, err
				}
				text, err := json.Marshal(o.object)
				if err != nil {
					return nil, err
				}
				return prepareSequence(t, typed.YAMLObject(text), s.steps, s.returnInputOnNoop)
			}})
		}
		all = append(all, bench{o.name + "/ApplyAgain", func() (func(int) error, error) { return f.again(o, true) }})
		all = append(all, bench{o.name + "/UpdateAgain", func() (func(int) error, error) { return f.again(o, false) }})
		all = append(all, bench{o.name + "/Validate", func() (func(int) error, error) {
			t, err := f.typeOf(o)
			return func(int) error {
				_, err := t.FromUnstructured(o.object)
				return err
			}, err
		}})
		all = append(all, bench{o.name + "/ToFieldSet", func() (func(int) error, error) {
			t, err := f.typeOf(o)
			if err != nil {
				return nil, err
			}
			v, err := t.FromUnstructured(o.object)
			return func(int) error {
				_, err := v.ToFieldSet()
				return err
			}, err
		}})
	}
	return all
}

// again is the same object once more, by a manager that applied (or updated) it before.
func (f *benchFolder) again(o largeObject, apply bool) (func(int) error, error) {
	t, err := f.typeOf(o)
	if err != nil {
		return nil, err
	}
	object, err := t.FromUnstructured(o.object)
	if err != nil {
		return nil, err
	}
	builder := merge.UpdaterBuilder{Converter: sameForAllVersions{}}
	updater := builder.BuildUpdater()
	live, err := t.FromUnstructured(nil)
	if err != nil {
		return nil, err
	}
	managers := fieldpath.ManagedFields{}
	if apply {
		live, managers, err = updater.Apply(live, object, "v1", managers, "controller", false)
	} else {
		live, managers, err = updater.Update(live, object, "v1", managers, "controller")
	}
	if err != nil {
		return nil, err
	}
	steps := []step{{apply, "controller", "v1", object}}
	return func(int) error {
		// The updater changes the map of managers that it is given.
		return runSteps(updater, live, managers.Copy(), steps)
	}, nil
}

// runBenchInputs writes the inputs that bench generates, so that others can measure the same: the paths of sets, the
// entries of managedFields, and the large objects.
func runBenchInputs(args []string, _ *bufio.Writer) error {
	if len(args) != 2 {
		return fmt.Errorf("bench-inputs: FOLDER and OUT expected")
	}
	f := &benchFolder{path: args[0], parsers: map[string]*typed.Parser{}}
	out := args[1]
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, here := range setSizes {
		if err := writeOperands(filepath.Join(out, fmt.Sprintf("set-%d.ndjson", here.size)), here); err != nil {
			return err
		}
	}
	entries, err := f.managedEntries()
	if err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(out, "managed-fields.json"), entries); err != nil {
		return err
	}
	for _, o := range largeObjects() {
		if err := writeJSON(filepath.Join(out, o.name+".json"), o.object); err != nil {
			return err
		}
	}
	text, err := f.read("k8s-schema.yaml")
	if err != nil {
		return err
	}
	if text, err = declareManagedFields(text); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "k8s-schema-managed-fields.yaml"), text, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "list-schema.yaml"), []byte(listSchema), 0o644)
}

func writeJSON(path string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// writeOperands writes a line per operand: `{"paths":[["f:name","i:1"],…],"set":{…}}`.
func writeOperands(path string, here setSize) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriter(file)
	for _, operand := range setOperands(here) {
		paths := make([][]string, len(operand.paths))
		for i, p := range operand.paths {
			for _, element := range p {
				text, err := fieldpath.SerializePathElement(element)
				if err != nil {
					return err
				}
				paths[i] = append(paths[i], text)
			}
		}
		if err := writeLine(w, record{"paths": paths, "set": json.RawMessage(operand.serialized)}); err != nil {
			return err
		}
	}
	return w.Flush()
}
