package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

var (
	scheme = runtime.NewScheme()
	codecs = serializer.NewCodecFactory(scheme)
)

func init() {
	install.Install(scheme)
}

// manifest is one CustomResourceDefinition found in a stream, or the reason why there is none.
type manifest struct {
	doc        int  // index of the YAML document
	item       *int // index in the document's list, if it is one
	apiVersion string
	crd        *apiextensionsv1.CustomResourceDefinition
	err        error
}

// typeMeta is the part of an object that identifies its type.
type typeMeta struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

func (t typeMeta) isCRD() bool {
	return t.Kind == "CustomResourceDefinition" && strings.HasPrefix(t.APIVersion, "apiextensions.k8s.io/")
}

func (t typeMeta) isList() bool {
	return t.Kind == "List" && t.APIVersion == "v1" ||
		t.Kind == "CustomResourceDefinitionList" && strings.HasPrefix(t.APIVersion, "apiextensions.k8s.io/")
}

// readManifests finds the CRDs of a stream of YAML documents, split as kubectl splits it. Objects of other kinds are
// skipped; a separator with text after it ends the stream with an error.
func readManifests(stream string) []manifest {
	var found []manifest
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(stream)))
	for doc := 0; ; doc++ {
		text, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			return append(found, manifest{doc: doc, err: err})
		}
		found = append(found, readDocument(doc, text)...)
	}
}

func readDocument(doc int, text []byte) []manifest {
	object, err := toJSON(text)
	if err != nil {
		return []manifest{{doc: doc, err: err}}
	}
	var meta typeMeta
	if json.Unmarshal(object, &meta) != nil {
		return nil // not an object, or one without a kind: some other manifest
	}
	switch {
	case meta.isCRD():
		m := decodeCRD(meta, object)
		m.doc = doc
		return []manifest{m}
	case meta.isList():
		return readList(doc, meta, object)
	default:
		return nil
	}
}

func readList(doc int, list typeMeta, object []byte) []manifest {
	var content struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(object, &content); err != nil {
		return []manifest{{doc: doc, err: err}}
	}
	var found []manifest
	for i, item := range content.Items {
		var meta typeMeta
		if json.Unmarshal(item, &meta) != nil {
			continue
		}
		if meta == (typeMeta{}) {
			// Items of a typed list may omit their type.
			meta = typeMeta{APIVersion: list.APIVersion, Kind: strings.TrimSuffix(list.Kind, "List")}
			var fields map[string]json.RawMessage
			if json.Unmarshal(item, &fields) != nil || fields == nil {
				continue
			}
			fields["apiVersion"], _ = json.Marshal(meta.APIVersion)
			fields["kind"], _ = json.Marshal(meta.Kind)
			item, _ = json.Marshal(fields)
		}
		if !meta.isCRD() {
			continue
		}
		m := decodeCRD(meta, item)
		m.doc, m.item = doc, &i
		found = append(found, m)
	}
	return found
}

// toJSON converts one document. A JSON document is used unchanged, any other is read as YAML.
func toJSON(text []byte) ([]byte, error) {
	if utilyaml.IsJSONBuffer(text) && json.Valid(text) {
		return text, nil
	}
	return yaml.YAMLToJSON(text)
}

// decodeCRD does what the API server does with a manifest: it sets the defaults of the manifest's version, converts it
// to the internal version and from there to v1, and sets the defaults of v1.
func decodeCRD(meta typeMeta, object []byte) (m manifest) {
	m.apiVersion = strings.TrimPrefix(meta.APIVersion, "apiextensions.k8s.io/")
	m.err = guard(func() error {
		internal, err := runtime.Decode(codecs.UniversalDecoder(apiextensions.SchemeGroupVersion), object)
		if err != nil {
			return err
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := scheme.Convert(internal, crd, nil); err != nil {
			return err
		}
		scheme.Default(crd)
		m.crd = crd
		return nil
	})
	return m
}
