package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	yaml "go.yaml.in/yaml/v2"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// benchLine is one measurement. Ns is processor time of the whole process, garbage collection included, per operation.
type benchLine struct {
	Name   string  `json:"name"`
	Ns     float64 `json:"ns"`
	Wall   float64 `json:"wall"`
	Allocs int64   `json:"allocs"`
	Bytes  int64   `json:"bytes"`
	N      int     `json:"n"`
}

// bench is a named benchmark: prepare builds everything that is not measured and returns one operation, which gets the
// number of its round.
type bench struct {
	name    string
	prepare func() (func(round int) error, error)
}

// runBench measures upstream on upstream's own inputs, and on the inputs that bench-inputs writes.
func runBench(args []string, out *bufio.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	wanted := flags.Duration("time", time.Second, "time per benchmark")
	only := flags.String("only", "", "only benchmarks whose names hold one of these words, separated by commas")
	flags.Parse(args)
	if flags.NArg() != 1 {
		return fmt.Errorf("bench: one FOLDER expected")
	}
	if err := flag.Set("test.benchtime", wanted.String()); err != nil {
		return err
	}
	runtime.GOMAXPROCS(1)
	for _, b := range benches(flags.Arg(0)) {
		if !holdsOneOf(b.name, *only) {
			continue
		}
		line, err := measure(b)
		if err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		if err := writeLine(out, line); err != nil {
			return err
		}
		out.Flush()
	}
	return nil
}

func holdsOneOf(name, words string) bool {
	if words == "" {
		return true
	}
	for word := range strings.SplitSeq(words, ",") {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

func measure(b bench) (benchLine, error) {
	operation, err := b.prepare()
	if err != nil {
		return benchLine{}, err
	}
	var failed error
	var processor time.Duration
	debug.FreeOSMemory()
	result := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		start := processorTime()
		b.ResetTimer()
		for round := range b.N {
			if err := operation(round); err != nil {
				failed = err
				return
			}
		}
		b.StopTimer()
		processor = processorTime() - start
	})
	return benchLine{
		Name:   b.name,
		Ns:     float64(processor.Nanoseconds()) / float64(max(result.N, 1)),
		Wall:   float64(result.T.Nanoseconds()) / float64(max(result.N, 1)),
		Allocs: result.AllocsPerOp(),
		Bytes:  result.AllocedBytesPerOp(),
		N:      result.N,
	}, failed
}

func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func benches(folder string) []bench {
	f := &benchFolder{path: folder, parsers: map[string]*typed.Parser{}}
	var all []bench
	all = append(all, f.operations()...)
	all = append(all, f.typed()...)
	all = append(all, setBenches()...)
	all = append(all, f.recordedSets()...)
	all = append(all, f.managedFields()...)
	all = append(all, f.large()...)
	return all
}

// benchFolder reads upstream's test data.
type benchFolder struct {
	path    string
	parsers map[string]*typed.Parser
}

func (f *benchFolder) read(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(f.path, name))
}

func (f *benchFolder) parser(name string) (*typed.Parser, error) {
	if p, ok := f.parsers[name]; ok {
		return p, nil
	}
	text, err := f.read(strings.TrimSuffix(name, trackedSuffix))
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(name, trackedSuffix) {
		if text, err = declareManagedFields(text); err != nil {
			return nil, err
		}
	}
	p, err := typed.NewParser(typed.YAMLObject(text))
	if err != nil {
		return nil, err
	}
	f.parsers[name] = p
	return p, nil
}

// trackedSuffix marks the name of the schema that also declares managedFields.
const trackedSuffix = "+managedFields"

// declareManagedFields adds metadata.managedFields, which upstream's test schema of Kubernetes lacks, to a schema: a
// server has it, and types every stored object with it.
func declareManagedFields(text []byte) ([]byte, error) {
	const head = "- name: io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta\n  map:\n    fields:\n"
	const field = "    - name: managedFields\n      type: {namedType: anything}\n"
	const anything = "- name: anything\n  scalar: untyped\n  list: {elementType: {namedType: anything}, elementRelationship: atomic}\n" +
		"  map: {elementType: {namedType: anything}, elementRelationship: atomic}\n"
	out := strings.Replace(string(text), head, head+field, 1)
	out = strings.Replace(out, "types:\n", "types:\n"+anything, 1)
	if out == string(text) {
		return nil, fmt.Errorf("the schema has no ObjectMeta")
	}
	return []byte(out), nil
}

// benchObject is one of upstream's objects with its type.
type benchObject struct{ name, schema, typeName, file string }

const crdType = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1beta1.CustomResourceDefinition"

var benchObjects = []benchObject{
	{"Pod", "k8s-schema.yaml", "io.k8s.api.core.v1.Pod", "pod.yaml"},
	{"Node", "k8s-schema.yaml", "io.k8s.api.core.v1.Node", "node.yaml"},
	{"Endpoints", "k8s-schema.yaml", "io.k8s.api.core.v1.Endpoints", "endpoints.yaml"},
	{"Node100%override", "k8s-schema-100pct-fieldoverride.yaml", "io.k8s.api.core.v1.Node", "node.yaml"},
	{"Node10%override", "k8s-schema-10pct-fieldoverride.yaml", "io.k8s.api.core.v1.Node", "node.yaml"},
	{"Endpoints100%override", "k8s-schema-100pct-fieldoverride.yaml", "io.k8s.api.core.v1.Endpoints", "endpoints.yaml"},
	{"Endpoints10%override", "k8s-schema-10pct-fieldoverride.yaml", "io.k8s.api.core.v1.Endpoints", "endpoints.yaml"},
	{"PrometheusCRD", "k8s-schema.yaml", crdType, "prometheus-crd.yaml"},
	{"apiresourceimport", "apiresourceimport.yaml", "apiresourceimport", "apiresourceimport-cr.yaml"},
}

// open returns the type and the contents of an object.
func (f *benchFolder) open(o benchObject) (typed.ParseableType, typed.YAMLObject, error) {
	p, err := f.parser(o.schema)
	if err != nil {
		return typed.ParseableType{}, "", err
	}
	text, err := f.read(o.file)
	return p.Type(o.typeName), typed.YAMLObject(text), err
}

// step is one call of the updater.
type step struct {
	apply            bool
	manager, version string
	object           *typed.TypedValue
}

// sequence runs steps from an empty object of the type on, as upstream's test fixture does.
func sequence(t typed.ParseableType, steps []step, returnInputOnNoop bool) func(int) error {
	return func(int) error {
		builder := merge.UpdaterBuilder{Converter: sameForAllVersions{}, ReturnInputOnNoop: returnInputOnNoop}
		updater := builder.BuildUpdater()
		live, err := t.FromUnstructured(nil)
		if err != nil {
			return err
		}
		return runSteps(updater, live, nil, steps)
	}
}

func runSteps(updater *merge.Updater, live *typed.TypedValue, managers fieldpath.ManagedFields, steps []step) error {
	for _, s := range steps {
		var next *typed.TypedValue
		var err error
		if s.apply {
			next, managers, err = updater.Apply(live, s.object, fieldpath.APIVersion(s.version), managers, s.manager, false)
		} else {
			next, managers, err = updater.Update(live, s.object, fieldpath.APIVersion(s.version), managers, s.manager)
		}
		if err != nil {
			return err
		}
		if next != nil {
			live = next
		}
	}
	return nil
}

// sameForAllVersions is the converter under which an object reads the same in every version.
type sameForAllVersions struct{}

func (sameForAllVersions) Convert(v *typed.TypedValue, version fieldpath.APIVersion) (*typed.TypedValue, error) {
	if version == "" {
		return nil, fmt.Errorf("no version to convert to")
	}
	return v, nil
}

func (sameForAllVersions) IsMissingVersionError(error) bool { return false }

// sequences are the operations that upstream measures with every object.
var sequences = []struct {
	name              string
	returnInputOnNoop bool
	steps             []step
}{
	{"Create", false, []step{{false, "controller", "v1", nil}}},
	{"Apply", false, []step{{true, "controller", "v1", nil}}},
	{"ApplyTwice", false, []step{{true, "controller", "v1", nil}, {true, "other-controller", "v1", nil}}},
	{"ApplyTwiceNoCompare", true, []step{{true, "controller", "v1", nil}, {true, "other-controller", "v1", nil}}},
	{"Update", false, []step{{false, "controller", "v1", nil}, {false, "other-controller", "v1", nil}}},
	{"UpdateVersion", false, []step{{false, "controller", "v1", nil}, {false, "other-controller", "v2", nil}}},
}

// operations are upstream's BenchmarkOperations.
func (f *benchFolder) operations() []bench {
	var all []bench
	for _, o := range benchObjects {
		for _, s := range sequences {
			all = append(all, bench{o.name + "/" + s.name, func() (func(int) error, error) {
				t, text, err := f.open(o)
				if err != nil {
					return nil, err
				}
				return prepareSequence(t, text, s.steps, s.returnInputOnNoop)
			}})
		}
	}
	return all
}

func prepareSequence(t typed.ParseableType, text typed.YAMLObject, steps []step, returnInputOnNoop bool) (func(int) error, error) {
	ready := make([]step, len(steps))
	for i, s := range steps {
		var options []typed.ValidationOptions
		if !s.apply {
			options = append(options, typed.AllowDuplicates)
		}
		object, err := t.FromYAML(text, options...)
		if err != nil {
			return nil, err
		}
		s.object = object
		ready[i] = s
	}
	return sequence(t, ready, returnInputOnNoop), nil
}

// typed are the operations on typed values, and reading them and their schemas.
func (f *benchFolder) typed() []bench {
	var all []bench
	for _, name := range []string{"k8s-schema.yaml", "k8s-schema-100pct-fieldoverride.yaml", "apiresourceimport.yaml"} {
		all = append(all, bench{"Schema/" + strings.TrimSuffix(name, ".yaml"), func() (func(int) error, error) {
			text, err := f.read(name)
			return func(int) error {
				_, err := typed.NewParser(typed.YAMLObject(text))
				return err
			}, err
		}})
	}
	for _, o := range benchObjects {
		if strings.HasSuffix(o.name, "override") {
			continue
		}
		add := func(kind string, make func(t typed.ParseableType, text typed.YAMLObject, a, b *typed.TypedValue) func(int) error) {
			all = append(all, bench{kind + "/" + o.name, func() (func(int) error, error) {
				t, text, err := f.open(o)
				if err != nil {
					return nil, err
				}
				a, err := t.FromYAML(text)
				if err != nil {
					return nil, err
				}
				b, err := t.FromYAML(text)
				return make(t, text, a, b), err
			}})
		}
		add("FromYAML", func(t typed.ParseableType, text typed.YAMLObject, _, _ *typed.TypedValue) func(int) error {
			return func(int) error {
				_, err := t.FromYAML(text)
				return err
			}
		})
		add("Validate", func(t typed.ParseableType, text typed.YAMLObject, _, _ *typed.TypedValue) func(int) error {
			object := map[string]any{}
			if err := yaml.Unmarshal([]byte(text), &object); err != nil {
				return func(int) error { return err }
			}
			return func(int) error {
				_, err := t.FromUnstructured(object)
				return err
			}
		})
		add("ToFieldSet", func(_ typed.ParseableType, _ typed.YAMLObject, a, _ *typed.TypedValue) func(int) error {
			return func(int) error {
				_, err := a.ToFieldSet()
				return err
			}
		})
		add("Compare", func(_ typed.ParseableType, _ typed.YAMLObject, a, b *typed.TypedValue) func(int) error {
			return func(int) error {
				_, err := a.Compare(b)
				return err
			}
		})
		add("Merge", func(_ typed.ParseableType, _ typed.YAMLObject, a, b *typed.TypedValue) func(int) error {
			return func(int) error {
				_, err := a.Merge(b)
				return err
			}
		})
		add("Extract", func(_ typed.ParseableType, _ typed.YAMLObject, a, _ *typed.TypedValue) func(int) error {
			set, err := a.ToFieldSet()
			if err != nil {
				return func(int) error { return err }
			}
			leaves := set.Leaves()
			return func(int) error {
				a.ExtractItems(leaves)
				return nil
			}
		})
		add("Remove", func(_ typed.ParseableType, _ typed.YAMLObject, a, _ *typed.TypedValue) func(int) error {
			set, err := a.ToFieldSet()
			if err != nil {
				return func(int) error { return err }
			}
			leaves := set.Leaves()
			return func(int) error {
				a.RemoveItems(leaves)
				return nil
			}
		})
	}
	return all
}
