package main

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// How often a call is repeated to find out whether upstream's answer depends on the order of a Go map. Failing calls
// are repeated more often, because they end early and so do their messages, in particular if the first undeclared field
// ends the check of a map. No number is enough for every map: a caller that finds a difference requests the answer
// again with more patience.
const (
	attempts           = 2
	failingAttempts    = 8
	undeclaredAttempts = 40
)

// patience multiplies the attempts.
var patience = 1

func attemptsAfter(err error) int {
	if strings.Contains(err.Error(), "field not declared in schema") {
		return undeclaredAttempts * patience
	}
	return failingAttempts * patience
}

const lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration"

// trace is one sequence that is being generated: requests of several managers on one object.
type trace struct {
	*rand.Rand
	schema  *drawnSchema
	stack   *stack
	crd     bool
	live    map[string]any
	ops     []any
	configs map[string]map[string]any
	unsure  bool
}

// drawSequence generates a trace and answers it. It must run in a bubble.
func drawSequence(name string, random *rand.Rand, s *drawnSchema) (record, error) {
	scenario := []string{"apply-first", "create-by-update", "untracked", "kubectl", "crowd", "tampered"}[random.Intn(6)]
	resetFields := map[string]any{}
	resetSets := map[string]*fieldpath.Set{}
	if random.Intn(2) == 0 {
		// Any of the versions may have no subresource of its own.
		for _, version := range s.versions {
			if random.Intn(4) > 0 {
				resetFields[version+" "] = record{"f:status": record{}}
				resetFields[version+" status"] = record{"f:metadata": record{}, "f:spec": record{}}
			}
		}
		for endpoint, fields := range resetFields {
			set := fieldpath.NewSet()
			if err := set.FromJSON(strings.NewReader(textOf(fields))); err != nil {
				return nil, err
			}
			resetSets[endpoint] = set
		}
	}
	types := map[schema.GroupVersionKind]typed.ParseableType{}
	typeNames := record{}
	for _, version := range s.versions {
		types[kindOf(version)] = s.parser.Type(rootType(version))
		typeNames[version] = rootType(version)
	}
	stack, err := newStack(types, resetSets)
	if err != nil {
		return nil, err
	}
	stack.only = s.only
	t := &trace{Rand: random, schema: s, stack: stack, crd: random.Intn(2) == 0, configs: map[string]map[string]any{}}
	t.run(scenario)
	return record{
		"kind": "ssa", "test": name + "/" + scenario, "scenario": scenario, "source": "generated", "crd": t.crd, "schema": s.id,
		"seq": 0, "resourceKind": drawnKind, "types": typeNames, "resetFields": resetFields, "only": s.only, "ops": t.ops,
	}, nil
}

func kindOf(version string) schema.GroupVersionKind {
	gv, _ := schema.ParseGroupVersion(version)
	return gv.WithKind(drawnKind)
}

func (t *trace) run(scenario string) {
	version := t.schema.versions[t.Intn(3)/2]
	t.set(map[string]any{"apiVersion": version, "kind": drawnKind})
	switch scenario {
	case "create-by-update":
		t.update("creator", version, "", t.draw(version, 7, 2))
		t.store()
	case "untracked":
		object := t.draw(version, 6, 3)
		object["metadata"] = map[string]any{"name": "sample", "uid": "u-1"}
		t.set(object)
	case "kubectl":
		object := t.draw(version, 5, 0)
		t.annotate(object)
		t.update("kubectl-client-side-apply", version, "", object)
		t.store()
		if t.Intn(2) == 0 {
			t.update("controller", version, "", t.changed(version))
		}
		next := t.generator(version, 5, 0).mutated(object, t.typeOf(version), t.Intn(3))
		delete(next["metadata"].(map[string]any), "annotations")
		t.apply("kubectl", version, "", next, t.Intn(4) == 0)
	case "crowd":
		t.apply("alpha", version, "", t.draw(version, 5, 1), false)
		t.store()
		for i := range 14 {
			if t.Intn(5) > 0 {
				time.Sleep(time.Second)
			}
			sub := ""
			if t.Intn(8) == 0 {
				sub = "status"
			}
			next := version
			if t.Intn(5) == 0 {
				next = t.version()
			}
			t.update(fmt.Sprintf("updater-%d", i), next, sub, t.changed(next))
		}
	default:
		t.apply("alpha", version, "", t.draw(version, 5, 1), false)
		t.store()
	}
	for range 4 + t.Intn(8) {
		if t.unsure {
			return
		}
		t.step(scenario)
	}
}

// step generates one request.
func (t *trace) step(scenario string) {
	version := t.version()
	sub := []string{"", "", "", "", "", "", "status", "scale"}[t.Intn(8)]
	switch n := t.Intn(20); {
	case n < 11:
		manager := []string{"alpha", "beta", "gamma", "kubectl"}[t.Intn(7)/2]
		config := t.draw(version, 3+t.Intn(4), 1)
		if last, ok := t.configs[manager]; ok && t.Intn(3) > 0 {
			config = t.generator(version, 5, 1).mutated(last, t.typeOf(version), t.Intn(4))
			config["apiVersion"] = version
		}
		t.apply(manager, version, sub, config, t.Intn(5) < 2)
	case n < 17:
		manager := []string{"controller", "editor", "meddler", "alpha", ""}[t.Intn(5)]
		object := t.changed(version)
		t.meddle(object)
		t.update(manager, version, sub, object)
	case n < 18 || scenario != "tampered":
		// A request with a mistake.
		config := t.generator(version, 5, 0).mistaken(t.draw(version, 5, 0), t.typeOf(version))
		switch t.Intn(8) {
		case 0:
			config["apiVersion"] = []string{"other.example/v9", "example.com/v9", ""}[t.Intn(3)]
		case 1:
			config["kind"] = "Gadget"
		case 2:
			config["metadata"].(map[string]any)["managedFields"] = []any{[]any{}, nil, []any{map[string]any{}}}[t.Intn(3)]
		}
		if t.Intn(3) == 0 {
			t.update("meddler", version, sub, config)
		} else {
			t.apply("beta", version, sub, config, t.Intn(2) == 0)
		}
	default:
		t.tamper(version)
	}
}

// version is any version, the first more often than the others.
func (t *trace) version() string {
	all := t.schema.versions
	if t.Intn(3) == 0 {
		return all[0]
	}
	return all[t.Intn(len(all))]
}

func (t *trace) typeOf(version string) smdschema.TypeRef {
	return t.stack.types[kindOf(version)].TypeRef
}

// generator draws values for a version.
func (t *trace) generator(version string, density, odd int) *valueGen {
	return &valueGen{Rand: t.Rand, schema: &t.schema.parser.Schema, density: density, odd: odd}
}

func (t *trace) draw(version string, density, odd int) map[string]any {
	g := t.generator(version, density, odd)
	atom, _ := g.schema.Resolve(t.typeOf(version))
	object := g.object(atom.Map, 5)
	object["apiVersion"], object["kind"] = version, drawnKind
	metadata := map[string]any{"name": "sample"}
	drawn, _ := object["metadata"].(map[string]any)
	for _, key := range []string{"labels", "annotations", "finalizers", "ownerReferences", "generation"} {
		if v, ok := drawn[key]; ok {
			metadata[key] = v
		}
	}
	object["metadata"] = metadata
	return object
}

// changed is the live object with some changes, as a client sends it back.
func (t *trace) changed(version string) map[string]any {
	g := t.generator(version, 5, 2)
	g.duplicates = t.Intn(8) == 0
	changes := 1 + t.Intn(3)
	if t.Intn(8) == 0 {
		changes = 0
	}
	object := g.mutated(t.live, t.typeOf(version), changes)
	object["apiVersion"] = version
	if t.Intn(4) == 0 {
		if metadata, ok := object["metadata"].(map[string]any); ok {
			delete(metadata, "managedFields")
		}
	}
	return object
}

// meddle sometimes changes the managedFields of an object that is sent.
func (t *trace) meddle(object map[string]any) {
	metadata, ok := object["metadata"].(map[string]any)
	if !ok || t.Intn(7) > 0 {
		return
	}
	switch t.Intn(5) {
	case 0:
		metadata["managedFields"] = []any{}
	case 1:
		metadata["managedFields"] = []any{map[string]any{}}
	default:
		metadata["managedFields"] = t.entries(metadata["managedFields"])
	}
}

// entries are managedFields with one entry changed, removed, added or broken.
func (t *trace) entries(had any) []any {
	list, _ := had.([]any)
	list = slices.Clone(list)
	entry := map[string]any{
		"manager": []string{"alpha", "ghost", "controller"}[t.Intn(3)], "operation": []string{"Apply", "Update"}[t.Intn(2)],
		"apiVersion": append([]string{"example.com/v9", "v1"}, t.schema.versions...)[t.Intn(2+len(t.schema.versions))],
		"fieldsType": "FieldsV1", "time": "2000-01-01T00:00:00Z", "fieldsV1": t.fields(),
	}
	switch t.Intn(14) {
	case 0:
		entry["operation"] = "Patch"
	case 1:
		delete(entry, "apiVersion")
	case 2:
		delete(entry, "fieldsType")
	case 3:
		entry["fieldsType"] = "FieldsV2"
	case 4:
		entry["fieldsV1"] = map[string]any{"f:spec": int64(1)}
	case 5:
		entry["fieldsV1"] = map[string]any{"spec": map[string]any{}}
	case 6:
		delete(entry, "fieldsV1")
	case 7:
		delete(entry, "time")
	case 8:
		entry["subresource"] = "status"
	case 9:
		delete(entry, "manager")
	case 10:
		entry["fieldsV1"] = map[string]any{"z:spec": map[string]any{}, "f:spec": map[string]any{"q:x": map[string]any{}}}
	}
	at := t.Intn(len(list) + 1)
	if at < len(list) && t.Intn(2) == 0 {
		if t.Intn(2) == 0 {
			return slices.Delete(list, at, at+1)
		}
		list[at] = entry
		return list
	}
	return slices.Insert(list, at, any(entry))
}

// fields are some fields of the live object; some may be undeclared.
func (t *trace) fields() any {
	set := fieldpath.NewSet()
	if typedLive, err := t.stack.types[kindOf(t.schema.versions[0])].FromUnstructured(t.live, typed.AllowDuplicates); err == nil {
		if all, err := typedLive.ToFieldSet(); err == nil {
			all.Iterate(func(path fieldpath.Path) {
				if t.Intn(4) == 0 && !strings.HasPrefix(path.String(), ".metadata.managedFields") {
					set.Insert(path.Copy()[:1+t.Intn(len(path))])
				}
			})
		}
	}
	text, err := set.ToJSON()
	if err != nil {
		return map[string]any{}
	}
	return fromJSON(string(text))
}

// tamper stores what no request would have stored.
func (t *trace) tamper(version string) {
	object := runtime.DeepCopyJSON(t.live)
	switch t.Intn(4) {
	case 0:
		metadata, ok := object["metadata"].(map[string]any)
		if !ok {
			return
		}
		metadata["managedFields"] = t.entries(metadata["managedFields"])
	case 1:
		object = t.generator(version, 5, 2).mistaken(object, t.typeOf(version))
	default:
		g := t.generator(version, 5, 4)
		g.duplicates = true
		object = g.mutated(object, t.typeOf(version), 2)
	}
	t.set(object)
}

// annotate writes the last-applied annotation of kubectl into an object.
func (t *trace) annotate(object map[string]any) {
	metadata := object["metadata"].(map[string]any)
	delete(metadata, "annotations")
	text := textOf(object) + "\n"
	switch t.Intn(10) {
	case 0:
		text = "{"
	case 1:
		text = `{"apiVersion":"example.com/v1beta1","kind":"Widget","spec":1}`
	}
	metadata["annotations"] = map[string]any{lastAppliedAnnotation: text}
}

// store does what a server does after an object is created: it gets a UID.
func (t *trace) store() {
	object := runtime.DeepCopyJSON(t.live)
	metadata, ok := object["metadata"].(map[string]any)
	if !ok || t.Intn(6) == 0 {
		return
	}
	metadata["uid"] = "u-1"
	t.set(object)
}

func (t *trace) set(object map[string]any) {
	t.live = object
	op := record{"op": "set", "error": nil, "time": now()}
	addLive(op, t.live)
	t.ops = append(t.ops, op)
}

func (t *trace) apply(manager, version, subresource string, object map[string]any, force bool) {
	t.serve(request{true, kindOf(version), subresource, manager, force, object}, version)
	t.configs[manager] = object
}

func (t *trace) update(manager, version, subresource string, object map[string]any) {
	t.serve(request{false, kindOf(version), subresource, manager, false, object}, version)
}

// serve answers a request and records it, unless upstream panics or gives different answers.
func (t *trace) serve(r request, version string) {
	if t.unsure {
		return
	}
	if t.Intn(8) > 0 {
		time.Sleep(time.Second)
	}
	op := record{"op": "update", "manager": r.manager, "version": version, "subresource": r.subresource, "object": r.object, "time": now()}
	if r.apply {
		op["op"], op["force"] = "apply", r.force
	}
	live, ok := answer(t.stack, t.live, r, t.crd, op)
	if !ok {
		t.unsure = true
		return
	}
	if live != nil {
		t.live = live
	}
	t.ops = append(t.ops, op)
}

// answer serves a request several times and writes the answer into the record. It returns false if the answers differ,
// or if upstream panics.
func answer(s *stack, before map[string]any, r request, crd bool, op record) (live map[string]any, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	// Go walks a small map from any key on, but in the order in which the keys were inserted. A server reads stored
	// objects from JSON with sorted keys.
	before, r.object = decoded(before), decoded(r.object)
	live, err := s.serve(before, r, crd)
	if err == nil {
		addLive(op, live)
		first := textOf([]any{op["live"], op["managedFields"]})
		for range attempts*patience - 1 {
			again, err := s.serve(before, r, crd)
			if err != nil {
				return nil, false
			}
			repeated := record{}
			addLive(repeated, again)
			if textOf([]any{repeated["live"], repeated["managedFields"]}) != first {
				return nil, false
			}
		}
		op["error"] = nil
		return live, true
	}
	texts := []string{errorText(err)}
	status := statusOf(err)
	for range attemptsAfter(err) - 1 {
		_, err := s.serve(before, r, crd)
		if err == nil || textOf(statusOf(err)) != textOf(status) {
			return nil, false
		}
		if text := errorText(err); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	slices.Sort(texts)
	op["error"] = texts[0]
	if len(texts) > 1 {
		op["errorVariants"] = texts
	}
	if status != nil {
		op["status"] = status
	}
	return nil, true
}

// decoded is an object as a server decodes it from JSON with sorted keys.
func decoded(object map[string]any) map[string]any {
	if object == nil {
		return nil
	}
	return fromJSON(textOf(object)).(map[string]any)
}

// errorText is the message of an error, with the parts of a list of errors sorted: upstream's order is that of Go's
// maps.
func errorText(err error) string {
	head, parts, several := strings.Cut(err.Error(), "errors:\n")
	if !several {
		return head
	}
	lines := strings.Split(parts, "\n")
	slices.Sort(lines)
	return head + "errors:\n" + strings.Join(lines, "\n")
}

// addLive writes an object into a record, with its managedFields separate.
func addLive(op record, live map[string]any) {
	object := runtime.DeepCopyJSON(live)
	op["managedFields"] = nil
	if metadata, ok := object["metadata"].(map[string]any); ok {
		if entries, ok := metadata["managedFields"]; ok {
			op["managedFields"] = entries
			delete(metadata, "managedFields")
		}
	}
	op["live"] = object
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }
