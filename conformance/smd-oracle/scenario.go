package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	yaml "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	kyaml "sigs.k8s.io/yaml"
)

// runScenario answers scenario files: it prints records, writes them into a file, or writes the answers into the
// scenarios themselves.
func runScenario(args []string, out *bufio.Writer) error {
	flags := flag.NewFlagSet("scenario", flag.ExitOnError)
	update := flags.Bool("update", false, "write the expectations into the files")
	answers := flags.String("answers", "", "write the records into this gzipped file")
	flags.Parse(args)
	files := flags.Args()
	if len(files) == 0 {
		return fmt.Errorf("scenario: FILE expected")
	}
	slices.Sort(files)
	underAClock(func(bubble func(func())) {
		var records bytes.Buffer
		seen := map[string]bool{}
		for _, file := range files {
			if err := answerFile(file, *update, &records, seen, bubble); err != nil {
				fmt.Fprintf(os.Stderr, "smd-oracle: %s: %v\n", file, err)
				os.Exit(1)
			}
		}
		var err error
		if *answers != "" {
			err = writeGzip(*answers, records.Bytes())
		} else if !*update {
			_, err = records.WriteTo(out)
		}
		if flushErr := out.Flush(); err == nil {
			err = flushErr
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "smd-oracle:", err)
			os.Exit(1)
		}
	})
	return nil
}

// answerFile answers every scenario of a file.
func answerFile(file string, update bool, records io.Writer, seen map[string]bool, bubble func(func())) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var documents []*yaml.Node
	for {
		document := &yaml.Node{}
		if err := decoder.Decode(document); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		documents = append(documents, document)
	}
	for i, document := range documents {
		s, err := readScenario(document, file, i)
		if err != nil {
			return fmt.Errorf("scenario %d: %w", i, err)
		}
		bubble(func() { err = s.run() })
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		// Records are replayed with the schema before them, so it is written again.
		if err := writeLine(records, record{"id": s.schemaID, "schema": s.model}); err != nil {
			return err
		}
		if seen[s.test] {
			return fmt.Errorf("%s: there are two scenarios of this name", s.name)
		}
		seen[s.test] = true
		for _, r := range s.records {
			if err := writeLine(records, r); err != nil {
				return err
			}
		}
	}
	if !update {
		return nil
	}
	var out bytes.Buffer
	for i, document := range documents {
		if i > 0 {
			out.WriteString("---\n")
		}
		encoder := yaml.NewEncoder(&out)
		encoder.SetIndent(2)
		if err := encoder.Encode(document); err != nil {
			return err
		}
		encoder.Close()
	}
	return os.WriteFile(file, out.Bytes(), 0o644)
}

// scenario is one document.
type scenario struct {
	name, test string
	steps      *yaml.Node
	schemaID   string
	model      record
	parser     *typed.Parser
	stack      *stack
	kinds      map[schema.GroupVersionKind]string
	reset      record

	live    map[string]any
	trace   record
	records []record
}

// valueOf is a node as Kubernetes reads it.
func valueOf(node *yaml.Node) (any, error) {
	text, err := yaml.Marshal(node)
	if err != nil {
		return nil, err
	}
	text, err = kyaml.YAMLToJSON(text)
	if err != nil {
		return nil, err
	}
	return fromJSON(string(text)), nil
}

// member is a member of a mapping, or nil.
func member(node *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i+1]
		}
	}
	return nil
}

func readScenario(document *yaml.Node, file string, number int) (*scenario, error) {
	root := document.Content[0]
	whole, err := valueOf(root)
	if err != nil {
		return nil, err
	}
	object, ok := whole.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("no mapping")
	}
	s := &scenario{kinds: map[schema.GroupVersionKind]string{}, reset: record{}, steps: member(root, "steps")}
	s.name, _ = object["scenario"].(string)
	s.test = strings.TrimSuffix(filepath.Base(file), ".yaml") + ": " + s.name
	if s.name == "" || s.steps == nil {
		return nil, fmt.Errorf("a scenario has a name and steps")
	}
	if err := s.readSchemas(object, filepath.Dir(file)); err != nil {
		return nil, err
	}
	types := map[schema.GroupVersionKind]typed.ParseableType{}
	named, _ := object["types"].(map[string]any)
	for _, key := range sortedKeys(named) {
		version, kind, _ := strings.Cut(key, " ")
		gv, err := schema.ParseGroupVersion(version)
		if err != nil {
			return nil, err
		}
		name, _ := named[key].(string)
		t := s.parser.Type(name)
		if !t.IsValid() {
			return nil, fmt.Errorf("types: no type %q", name)
		}
		types[gv.WithKind(kind)] = t
		s.kinds[gv.WithKind(kind)] = name
	}
	resetSets := map[string]*fieldpath.Set{}
	reset, _ := object["resetFields"].(map[string]any)
	for endpoint, fields := range reset {
		set := fieldpath.NewSet()
		if err := set.FromJSON(strings.NewReader(textOf(fields))); err != nil {
			return nil, fmt.Errorf("resetFields: %w", err)
		}
		if !strings.Contains(endpoint, " ") {
			endpoint += " "
		}
		resetSets[endpoint], s.reset[endpoint] = set, fields
	}
	s.stack, err = newStack(types, resetSets)
	return s, err
}

// readSchemas combines the schemas of a scenario: all types belong to one schema.
func (s *scenario) readSchemas(object map[string]any, folder string) error {
	types := []any{}
	list, _ := object["schemas"].([]any)
	for _, item := range list {
		one, _ := item.(map[string]any)
		if file, ok := one["file"].(string); ok && len(one) == 1 {
			text, err := os.ReadFile(filepath.Join(folder, file))
			if err != nil {
				return err
			}
			text, err = kyaml.YAMLToJSON(text)
			if err != nil {
				return err
			}
			one, _ = fromJSON(string(text)).(map[string]any)
		}
		more, ok := one["types"].([]any)
		if !ok {
			return fmt.Errorf("schemas: this program reads only structured-merge-diff schemas")
		}
		types = append(types, more...)
	}
	d, err := schemaOf(record{"types": types})
	if err != nil {
		return err
	}
	s.schemaID, s.model, s.parser = d.id, d.model, d.parser
	return nil
}

// run runs the steps one after the other.
func (s *scenario) run() error {
	for i, step := range s.steps.Content {
		if at := member(step, "time"); at == nil && i > 0 {
			time.Sleep(time.Second)
		} else if at != nil {
			to, err := time.Parse(time.RFC3339, at.Value)
			if err != nil {
				return err
			}
			if to.Before(time.Now()) {
				return fmt.Errorf("step %d: this program cannot go back in time", i)
			}
			time.Sleep(time.Until(to))
		}
		v, err := valueOf(step)
		if err != nil {
			return err
		}
		expect, err := s.step(v.(map[string]any), i)
		if err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		if err := setExpectations(step, expect); err != nil {
			return err
		}
	}
	return nil
}

// part is a part of the expected result of a step.
type part struct {
	name  string
	value any
}

func (s *scenario) step(step map[string]any, number int) ([]part, error) {
	for _, action := range []string{"set", "apply", "update"} {
		if v, ok := step[action]; ok {
			object, ok := v.(map[string]any)
			if !ok {
				return nil, fmt.Errorf("%s: no object", action)
			}
			return s.request(action, object, step)
		}
	}
	return s.typedStep(step, number)
}

// request is a step on the live object.
func (s *scenario) request(action string, object, step map[string]any) ([]part, error) {
	version, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	if step["version"] != nil {
		version, _ = step["version"].(string)
	}
	gv, err := schema.ParseGroupVersion(version)
	if err != nil {
		return nil, err
	}
	if s.trace == nil {
		types := record{}
		for gvk, name := range s.kinds {
			if gvk.Kind == kind {
				types[gvk.GroupVersion().String()] = name
			}
		}
		s.trace = record{"kind": "ssa", "test": s.test, "scenario": s.name, "seq": 0, "source": "corpus", "crd": true, "schema": s.schemaID,
			"resourceKind": kind, "types": types, "resetFields": s.reset, "ops": []any{}}
		s.records = append(s.records, s.trace)
	}
	if action == "set" {
		s.set(object)
		return nil, nil
	}
	if s.live == nil {
		s.set(map[string]any{"apiVersion": version, "kind": kind})
	}
	r := request{apply: action == "apply", kind: gv.WithKind(kind), object: object}
	r.manager, _ = step["manager"].(string)
	r.subresource, _ = step["subresource"].(string)
	r.force, _ = step["force"].(bool)
	op := record{"op": action, "manager": r.manager, "version": version, "subresource": r.subresource, "object": object, "time": now()}
	if r.apply {
		op["force"] = r.force
	}
	live, ok := answer(s.stack, s.live, r, true, op)
	if !ok {
		return nil, fmt.Errorf("upstream's answer is not the same every time")
	}
	s.trace["ops"] = append(s.trace["ops"].([]any), op)
	if live == nil {
		if conflicts := conflictsOf(op["status"]); conflicts != nil {
			return []part{{"conflicts", conflicts}, {"error", op["error"]}}, nil
		}
		return []part{{"error", op["error"]}}, nil
	}
	s.live = live
	_, timed := step["time"]
	if expect, ok := step["expect"].(map[string]any); ok {
		timed = timed || strings.Contains(textOf(expect["owners"]), `"time":`)
	}
	return []part{{"object", op["live"]}, {"owners", ownersOf(op["managedFields"], timed)}}, nil
}

func (s *scenario) set(object map[string]any) {
	s.live = object
	op := record{"op": "set", "error": nil, "time": now()}
	addLive(op, object)
	s.trace["ops"] = append(s.trace["ops"].([]any), op)
}

// typedStep is a step on typed values.
func (s *scenario) typedStep(step map[string]any, number int) ([]part, error) {
	for _, action := range []string{"validate", "fieldset", "compare", "merge", "remove", "extract", "reconcile"} {
		if v, ok := step[action]; ok {
			t := &typedStep{s: s, number: number}
			t.typeName, _ = step["type"].(string)
			return t.run(action, v)
		}
	}
	return nil, fmt.Errorf("no action")
}

// conflictsOf are the conflicts of a status, by name and field; nil if there are none.
func conflictsOf(status any) []any {
	all, _ := fromJSON(textOf(status)).(map[string]any)
	causes, _ := all["causes"].([]any)
	var out []any
	for _, cause := range causes {
		cause := cause.(map[string]any)
		message, _ := cause["message"].(string)
		quoted := strings.TrimPrefix(message, "conflict with ")
		var name string
		if _, err := fmt.Sscanf(quoted, "%q", &name); err != nil {
			name = quoted
		}
		out = append(out, []part{{"manager", name}, {"field", cause["field"]}})
	}
	return out
}

// ownersOf are managedFields as scenarios write them.
func ownersOf(entries any, timed bool) []any {
	out := []any{}
	list, _ := entries.([]any)
	for _, item := range list {
		entry, ok := item.(map[string]any)
		if !ok {
			continue
		}
		owner := []part{{"manager", entry["manager"]}, {"operation", entry["operation"]}, {"apiVersion", entry["apiVersion"]}}
		if sub, ok := entry["subresource"]; ok {
			owner = append(owner, part{"subresource", sub})
		}
		if at, ok := entry["time"]; ok && timed {
			owner = append(owner, part{"time", at})
		}
		out = append(out, append(owner, part{"fields", entry["fieldsV1"]}))
	}
	return out
}
