package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// runRecord writes upstream's answers for the whole corpus. The same corpus gives the same bytes.
func runRecord(args []string, _ io.Reader, _ *bufio.Writer) error {
	flags := flag.NewFlagSet("record", flag.ExitOnError)
	flags.Parse(args)
	if flags.NArg() != 2 {
		return fmt.Errorf("record: CORPUS_DIR and OUT_DIR expected")
	}
	corpus, outDir := flags.Arg(0), flags.Arg(1)
	if err := os.MkdirAll(outDir, 0o755); err != nil {
		return err
	}
	roots := []string{filepath.Join(corpus, "crds"), filepath.Join(corpus, "refused")}
	if err := recordCRDs(roots, outDir); err != nil {
		return err
	}
	if err := recordOpenAPI(filepath.Join(corpus, "openapi"), outDir); err != nil {
		return err
	}
	return recordYAML(filepath.Join(corpus, "yaml", "cases.ndjson"))
}

// mergedFolders are the folders whose CRDs are merged into one set of documents.
var mergedFolders = []string{"rules", "realistic", "clash"}

// recordCRDs writes crds.ndjson.gz, a line per file in the order of paths below the roots, and merged.ndjson.gz, the
// documents of mergedFolders taken together.
func recordCRDs(roots []string, outDir string) error {
	byID := map[string]string{}
	for _, root := range roots {
		files, err := yamlFiles(root)
		if err != nil {
			return err
		}
		for _, file := range files {
			path, err := filepath.Rel(root, file)
			if err != nil {
				return err
			}
			byID[filepath.ToSlash(path)] = file
		}
	}
	var lines bytes.Buffer
	var published []manifest
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		text, err := os.ReadFile(byID[id])
		if err != nil {
			return err
		}
		manifests := readManifests(string(text))
		if err := encodeLine(&lines, answerRecord{ID: id, CRDs: answerManifests(manifests, allAnswers)}); err != nil {
			return err
		}
		if folder, _, _ := strings.Cut(id, "/"); slices.Contains(mergedFolders, folder) {
			published = append(published, manifests...)
		}
	}
	if err := writeGzip(filepath.Join(outDir, "crds.ndjson.gz"), lines.Bytes()); err != nil {
		return err
	}

	lines.Reset()
	if err := mergedLines(&lines, byName(published)); err != nil {
		return err
	}
	return writeGzip(filepath.Join(outDir, "merged.ndjson.gz"), lines.Bytes())
}

// recordOpenAPI writes openapi.ndjson.gz, a line per document in the order of paths below the root.
func recordOpenAPI(root, outDir string) error {
	files, err := documentFiles(root)
	if err != nil {
		return err
	}
	var lines bytes.Buffer
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		path, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		if err := encodeLine(&lines, answerDocument(filepath.ToSlash(path), text)); err != nil {
			return err
		}
	}
	return writeGzip(filepath.Join(outDir, "openapi.ndjson.gz"), lines.Bytes())
}

// mergedLines writes a line per group version and one for v2. If CRDs of one group version exclude each other, upstream
// publishes no v3 document at all, and v2 is random, so v2 is merged without them.
func mergedLines(w io.Writer, crds []*apiextensionsv1.CustomResourceDefinition) error {
	clashing := map[string]bool{}
	for _, v3 := range mergeV3(crds) {
		if v3.Error != "" {
			for _, name := range v3.CRDs {
				clashing[name] = true
			}
		}
		if err := encodeLine(w, struct {
			Record string `json:"record"`
			mergedV3
		}{"v3", v3}); err != nil {
			return err
		}
	}
	rest := slices.DeleteFunc(slices.Clone(crds), func(crd *apiextensionsv1.CustomResourceDefinition) bool {
		return clashing[crd.Name]
	})
	return encodeLine(w, struct {
		Record string `json:"record"`
		*mergedV2
	}{"v2", mergeV2(bareSwagger(), rest)})
}

// yamlCase is a line of cases.ndjson: the input and the rule are ours, the answer is upstream's.
type yamlCase struct {
	Rule string `json:"rule,omitempty"`
	YAML string `json:"yaml"`
	yamlAnswer
}

// recordYAML rewrites the answers of the YAML cases in place.
func recordYAML(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var lines bytes.Buffer
	dec := json.NewDecoder(bytes.NewReader(text))
	for {
		var c yamlCase
		if err := dec.Decode(&c); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		c.yamlAnswer = readYAML(c.YAML)
		if err := encodeLine(&lines, c); err != nil {
			return err
		}
	}
	return os.WriteFile(path, lines.Bytes(), 0o644)
}

func writeGzip(path string, content []byte) error {
	packed, err := gzipped(content)
	if err != nil {
		return err
	}
	return os.WriteFile(path, packed, 0o644)
}
