// Command pod-security prints what k8s.io/pod-security-admission says of Pods: those of its own fixtures, and Pods with
// random members. `go run . FIXTURES > FILE`, where FIXTURES is the folder `test/testdata` of the module.
//
// A line has a Pod and, for each level, the changes of the answer by minor release: `[[0,""],[8,"…"]]`.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"sort"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"
)

const (
	newest = 36
	random = 300
)

type change struct {
	minor int
	text  string
}

// MarshalJSON prints a change as a pair.
func (c change) MarshalJSON() ([]byte, error) {
	return plain([]any{c.minor, c.text})
}

type line struct {
	Pod        json.RawMessage `json:"pod"`
	Baseline   []change        `json:"baseline"`
	Restricted []change        `json:"restricted"`
}

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(fixtures string) error {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	var pods []string
	add := func(pod *corev1.Pod) error {
		pod.Name = ""
		text, err := plain(pod)
		if err == nil && !seen[string(text)] {
			seen[string(text)] = true
			pods = append(pods, string(text))
		}
		return err
	}
	err = filepath.WalkDir(fixtures, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		pod := &corev1.Pod{}
		if err := yaml.UnmarshalStrict(text, pod); err != nil {
			return err
		}
		return add(pod)
	})
	if err != nil {
		return err
	}
	source := rand.New(rand.NewSource(1))
	for n := 0; n < random; n++ {
		if err := add(randomPod(source)); err != nil {
			return err
		}
	}
	sort.Strings(pods)
	for _, text := range pods {
		pod := &corev1.Pod{}
		if err := json.Unmarshal([]byte(text), pod); err != nil {
			return err
		}
		of := func(level api.Level) []change {
			var changes []change
			for minor := 0; minor <= newest; minor++ {
				at := api.LevelVersion{Level: level, Version: api.MajorMinorVersion(1, minor)}
				result := policy.AggregateCheckResults(evaluator.EvaluatePod(at, &pod.ObjectMeta, &pod.Spec))
				said := result.ForbiddenDetail()
				if len(changes) == 0 || changes[len(changes)-1].text != said {
					changes = append(changes, change{minor, said})
				}
			}
			return changes
		}
		out, err := plain(line{json.RawMessage(text), of(api.LevelBaseline), of(api.LevelRestricted)})
		if err != nil {
			return err
		}
		fmt.Println(string(out))
	}
	return nil
}

// plain returns JSON without the escapes for HTML.
func plain(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSpace(out.Bytes()), err
}
