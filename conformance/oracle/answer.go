package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// request is one line of input.
type request struct {
	ID   string `json:"id"`
	YAML string `json:"yaml"`
}

// eachRequest reads lines until the input ends. Every answer is flushed immediately, because a caller may wait for it.
func eachRequest[R any](in io.Reader, out *bufio.Writer, answer func(R) (any, error)) error {
	dec := json.NewDecoder(bufio.NewReaderSize(in, 1<<20))
	for {
		var r R
		if err := dec.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		record, err := answer(r)
		if err != nil {
			return err
		}
		if err := encodeLine(out, record); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
}

// answers selects the answers to compute.
type answers struct{ structural, v3, v2, smd bool }

var allAnswers = answers{true, true, true, true}

func parseAnswers(list string) (a answers, err error) {
	for name := range strings.SplitSeq(list, ",") {
		switch name {
		case "structural":
			a.structural = true
		case "v3":
			a.v3 = true
		case "v2":
			a.v2 = true
		case "smd":
			a.smd = true
		case "":
		default:
			return a, fmt.Errorf("unknown answer %q", name)
		}
	}
	return a, nil
}

type answerRecord struct {
	ID     string        `json:"id"`
	CRDs   []crdRecord   `json:"crds"`
	Merged *mergedRecord `json:"merged,omitempty"`
}

// crdRecord is the answer for one manifest; the pointer fields are absent if it does not decode.
type crdRecord struct {
	Doc   int    `json:"doc"`
	Item  *int   `json:"item,omitempty"`
	Error string `json:"error,omitempty"`
	*crdAnswer
}

type crdAnswer struct {
	Name                  string          `json:"name"`
	APIVersion            string          `json:"api_version"`
	PreserveUnknownFields bool            `json:"preserve_unknown_fields"`
	Panic                 string          `json:"panic,omitempty"`
	SMD                   any             `json:"smd,omitempty"`
	SMDError              string          `json:"smd_error,omitempty"`
	Versions              []versionRecord `json:"versions"`
}

type versionRecord struct {
	Version            string          `json:"version"`
	Served             bool            `json:"served"`
	Storage            bool            `json:"storage"`
	HasSchema          *bool           `json:"has_schema,omitempty"`
	NewStructuralError string          `json:"new_structural_error,omitempty"`
	StructuralErrors   *[]fieldError   `json:"structural_errors,omitempty"`
	V3                 json.RawMessage `json:"v3,omitempty"`
	V3Error            string          `json:"v3_error,omitempty"`
	V2                 json.RawMessage `json:"v2,omitempty"`
	V2Error            string          `json:"v2_error,omitempty"`
}

func runAnswer(args []string, in io.Reader, out *bufio.Writer) error {
	flags := flag.NewFlagSet("answer", flag.ExitOnError)
	noMerged := flags.Bool("no-merged", false, "leave out the merged documents")
	list := flags.String("answers", "structural,v3,v2,smd", "comma-separated answers to compute")
	flags.Parse(args)
	which, err := parseAnswers(*list)
	if err != nil {
		return err
	}
	return eachRequest(in, out, func(r request) (any, error) {
		manifests := readManifests(r.YAML)
		record := answerRecord{ID: r.ID, CRDs: answerManifests(manifests, which)}
		if !*noMerged {
			merged, err := mergeAll(manifests, which)
			if err != nil {
				return nil, err
			}
			record.Merged = merged
		}
		return record, nil
	})
}

func answerManifests(manifests []manifest, which answers) []crdRecord {
	records := []crdRecord{}
	for _, m := range manifests {
		record := crdRecord{Doc: m.doc, Item: m.item}
		if m.err != nil {
			record.Error = m.err.Error()
		} else {
			record.crdAnswer = answerCRD(m, which)
		}
		records = append(records, record)
	}
	return records
}

func answerCRD(m manifest, which answers) *crdAnswer {
	a := &crdAnswer{
		Name:                  m.crd.Name,
		APIVersion:            m.apiVersion,
		PreserveUnknownFields: m.crd.Spec.PreserveUnknownFields,
		Versions:              []versionRecord{},
	}
	// note keeps the first panic and returns the message of an error.
	note := func(err error) string {
		if err == nil {
			return ""
		}
		var p panicked
		if a.Panic == "" && errors.As(err, &p) {
			a.Panic = p.Error()
		}
		return err.Error()
	}
	if which.smd {
		schema, err := buildSMD(m.crd)
		if a.SMDError = note(err); err == nil {
			a.SMD = smdJSON(schema)
		}
	}
	for _, v := range m.crd.Spec.Versions {
		a.Versions = append(a.Versions, answerVersion(m.crd, v, which, note))
	}
	return a
}

func answerVersion(
	crd *apiextensionsv1.CustomResourceDefinition,
	v apiextensionsv1.CustomResourceDefinitionVersion,
	which answers,
	note func(error) string,
) versionRecord {
	r := versionRecord{Version: v.Name, Served: v.Served, Storage: v.Storage}
	if which.structural {
		hasSchema, errs, err := structuralErrors(crd, v.Name)
		r.HasSchema = &hasSchema
		if r.NewStructuralError = note(err); err == nil && hasSchema {
			r.StructuralErrors = &errs
		}
	}
	if which.v3 {
		doc, err := buildV3(crd, v.Name, publishV3)
		if err == nil {
			r.V3, err = json.Marshal(doc)
		}
		r.V3Error = note(err)
	}
	if which.v2 {
		doc, err := buildV2(crd, v.Name)
		if err == nil {
			r.V2, err = json.Marshal(doc)
		}
		r.V2Error = note(err)
	}
	return r
}
