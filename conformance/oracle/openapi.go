package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"strings"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
	"k8s.io/kube-openapi/pkg/aggregator"
	"k8s.io/kube-openapi/pkg/openapiconv"
	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/spec3"
	openapiproto "k8s.io/kube-openapi/pkg/util/proto"
	"k8s.io/kube-openapi/pkg/validation/spec"
	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"
)

// documentRequest is one line of input of answer-openapi.
type documentRequest struct {
	ID       string `json:"id"`
	Document string `json:"document"`
}

// documentRecord is the answer for a whole document.
type documentRecord struct {
	ID              string          `json:"id"`
	Kind            string          `json:"kind"`
	Error           string          `json:"error,omitempty"`
	ParseError      string          `json:"parse_error,omitempty"`
	JSONLen         int             `json:"json_len,omitempty"`
	JSONSHA256      string          `json:"json_sha256,omitempty"`
	JSONETag        string          `json:"json_etag,omitempty"`
	JSON            json.RawMessage `json:"json,omitempty"`
	JSONError       string          `json:"json_error,omitempty"`
	ServedLen       int             `json:"served_len,omitempty"`
	ServedETag      string          `json:"served_etag,omitempty"`
	V3Len           int             `json:"v3_len,omitempty"`
	V3SHA256        string          `json:"v3_sha256,omitempty"`
	V3ETag          string          `json:"v3_etag,omitempty"`
	V3              json.RawMessage `json:"v3,omitempty"`
	V3Error         string          `json:"v3_error,omitempty"`
	Proto           *protoRecord    `json:"proto,omitempty"`
	ProtoGzip       string          `json:"proto_gzip_base64,omitempty"`
	V3Proto         *protoRecord    `json:"v3_proto,omitempty"`
	V3ProtoGzip     string          `json:"v3_proto_gzip_base64,omitempty"`
	SourceProto     *protoRecord    `json:"source_proto,omitempty"`
	SMD             any             `json:"smd,omitempty"`
	SMDError        string          `json:"smd_error,omitempty"`
	SMDWithUnions   any             `json:"smd_with_unions,omitempty"`
	SMDPreserve     any             `json:"smd_preserve,omitempty"`
	SMDPreserveFail string          `json:"smd_preserve_error,omitempty"`
}

// protoRecord is the protobuf form of a document, or why it has none.
type protoRecord struct {
	SHA256 string `json:"sha256,omitempty"`
	Len    int    `json:"len,omitempty"`
	Error  string `json:"error,omitempty"`
}

func runAnswerOpenAPI(args []string, in io.Reader, out *bufio.Writer) error {
	flags := flag.NewFlagSet("answer-openapi", flag.ExitOnError)
	flags.Parse(args)
	return eachRequest(in, out, func(r documentRequest) (any, error) {
		return answerDocument(r.ID, []byte(r.Document)), nil
	})
}

func answerDocument(id string, text []byte) documentRecord {
	a := documentRecord{ID: id}
	source, err := toJSON(text)
	if err != nil {
		a.Kind, a.Error = "unreadable", err.Error()
		return a
	}
	switch a.Kind = documentKind(source); a.Kind {
	case "v2":
		a.answerV2(source)
	case "v3":
		a.answerV3(source)
	}
	return a
}

// documentKind distinguishes documents by the member with the version; a document with only definitions is a v2
// document.
func documentKind(source []byte) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(source, &members) != nil {
		return "other"
	}
	has := func(name string) bool { _, ok := members[name]; return ok }
	switch {
	case has("swagger"):
		return "v2"
	case has("openapi"):
		return "v3"
	case has("definitions"):
		return "v2"
	default:
		return "other"
	}
}

func (a *documentRecord) answerV2(source []byte) {
	doc := &spec.Swagger{}
	if a.ParseError = parseError(source, doc); a.ParseError == "" {
		a.print(doc)
		served, err := marshal(doc.MarshalJSON)
		if err == nil {
			a.ServedLen, a.ServedETag = len(served), etag(served)
		}
		if a.JSON != nil {
			a.Proto, a.ProtoGzip = protobuf(a.JSON, protoV2)
		}
		if v3, err := convertV2(doc); err != nil {
			a.V3Error = err.Error()
		} else {
			a.V3, a.V3Len, a.V3SHA256, a.V3ETag = v3, len(v3), hexSHA256(v3), etag(v3)
			a.V3Proto, a.V3ProtoGzip = protobuf(v3, protoV3)
		}
	}
	a.SourceProto, _ = protobuf(source, protoV2)
	a.answerSMD(func(preserve bool) (*smdschema.Schema, error) { return smdOfV2(source, preserve) })
}

func (a *documentRecord) answerV3(source []byte) {
	doc := &spec3.OpenAPI{}
	a.ParseError = parseError(source, doc)
	if a.ParseError == "" {
		a.print(doc)
		if a.JSON != nil {
			a.Proto, a.ProtoGzip = protobuf(a.JSON, protoV3)
		}
	}
	a.SourceProto, _ = protobuf(source, protoV3)
	if a.ParseError == "" && doc.Components != nil && doc.Components.Schemas != nil {
		a.answerSMD(func(preserve bool) (*smdschema.Schema, error) { return smdOfV3(doc, preserve) })
	}
}

// parseError decodes a document. The decoder chooses the words of its errors at random, so that nobody depends on them.
func parseError(source []byte, doc any) string {
	err := traced(func() error { return json.Unmarshal(source, doc) })
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(err.Error(), "unable to", "cannot")
}

func (a *documentRecord) print(doc any) {
	body, err := marshal(func() ([]byte, error) { return json.Marshal(doc) })
	if err != nil {
		a.JSONError = err.Error()
		return
	}
	a.JSON, a.JSONLen, a.JSONSHA256, a.JSONETag = body, len(body), hexSHA256(body), etag(body)
}

func marshal(f func() ([]byte, error)) (body []byte, err error) {
	err = traced(func() error {
		body, err = f()
		return err
	})
	return body, err
}

func convertV2(doc *spec.Swagger) ([]byte, error) {
	return marshal(func() ([]byte, error) { return json.Marshal(openapiconv.ConvertV2ToV3(doc)) })
}

func protoV2(text []byte) ([]byte, error) {
	doc, err := openapi_v2.ParseDocument(text)
	if err != nil {
		return nil, err
	}
	return proto.Marshal(doc)
}

func protoV3(text []byte) ([]byte, error) {
	doc, err := openapi_v3.ParseDocument(text)
	if err != nil {
		return nil, err
	}
	return proto.Marshal(doc)
}

// maxProtoBytes is the maximum size of protobuf forms that are recorded as bytes, not only as hashes.
const maxProtoBytes = 16 << 10

func protobuf(text []byte, encode func([]byte) ([]byte, error)) (*protoRecord, string) {
	body, err := marshal(func() ([]byte, error) { return encode(text) })
	if err != nil {
		return &protoRecord{Error: gnosticError(err)}, ""
	}
	record := &protoRecord{SHA256: hexSHA256(body), Len: len(body)}
	if len(body) > maxProtoBytes {
		return record, ""
	}
	packed, err := gzipped(body)
	if err != nil {
		return &protoRecord{Error: err.Error()}, ""
	}
	return record, base64.StdEncoding.EncodeToString(packed)
}

var address = regexp.MustCompile(`0x[0-9a-f]{6,}`)

// gnosticError removes what differs from run to run: addresses, and the kind of space after "proto:".
func gnosticError(err error) string {
	return address.ReplaceAllString(strings.ReplaceAll(err.Error(), "\u00a0", " "), "0x0")
}

// answerSMD removes unions from the schemas, because nothing uses them; a schema with unions is recorded with them as
// well.
func (a *documentRecord) answerSMD(build func(preserve bool) (*smdschema.Schema, error)) {
	answer := func(preserve bool) (without, with any, message string) {
		var schema *smdschema.Schema
		err := traced(func() (err error) {
			schema, err = build(preserve)
			return err
		})
		if err != nil {
			return nil, nil, gnosticError(err)
		}
		with = smdJSON(schema)
		if takeUnions(schema) {
			return smdJSON(schema), with, ""
		}
		return with, nil, ""
	}
	a.SMD, a.SMDWithUnions, a.SMDError = answer(false)
	a.SMDPreserve, _, a.SMDPreserveFail = answer(true)
}

func smdOfV2(source []byte, preserve bool) (*smdschema.Schema, error) {
	doc, err := openapi_v2.ParseDocument(source)
	if err != nil {
		return nil, fmt.Errorf("gnostic: %w", err)
	}
	models, err := openapiproto.NewOpenAPIData(doc)
	if err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	schema, err := schemaconv.ToSchemaWithPreserveUnknownFields(models, preserve)
	return schema, sortLines(err)
}

func smdOfV3(doc *spec3.OpenAPI, preserve bool) (*smdschema.Schema, error) {
	schema, err := schemaconv.ToSchemaFromOpenAPI(doc.Components.Schemas, preserve)
	return schema, sortLines(err)
}

// traced is guard for libraries that fail deep inside: the error names the functions.
func traced(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w [%s]", panicked{r}, strings.Join(panickedIn(3), " < "))
		}
	}()
	return f()
}

// panickedIn lists the innermost functions that led to the panic being recovered, without those of the runtime.
func panickedIn(count int) []string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	var names []string
	for inPanic := false; len(names) < count; {
		frame, more := frames.Next()
		switch {
		case frame.Function == "runtime.gopanic":
			inPanic = true
		case inPanic && !strings.HasPrefix(frame.Function, "runtime."):
			names = append(names, frame.Function)
		}
		if !more {
			break
		}
	}
	return names
}

func hexSHA256(body []byte) string { return fmt.Sprintf("%x", sha256.Sum256(body)) }

// etag is the entity tag that a server gives a document.
func etag(body []byte) string { return fmt.Sprintf("%X", sha512.Sum512(body)) }

// gzipped omits name and time in the header, so that equal content gives equal bytes.
func gzipped(content []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// aggregateRequest is one line of input of aggregate: v2 documents as JSON or YAML.
type aggregateRequest struct {
	ID        string   `json:"id"`
	Documents []string `json:"documents"`
}

type aggregateRecord struct {
	ID    string `json:"id"`
	Error string `json:"error,omitempty"`
	*document
}

func runAggregate(args []string, in io.Reader, out *bufio.Writer) error {
	flags := flag.NewFlagSet("aggregate", flag.ExitOnError)
	flags.Parse(args)
	return eachRequest(in, out, func(r aggregateRequest) (any, error) {
		record := aggregateRecord{ID: r.ID}
		body, err := marshal(func() ([]byte, error) {
			sources := make([][]byte, len(r.Documents))
			for i, text := range r.Documents {
				source, err := toJSON([]byte(text))
				if err != nil {
					return nil, fmt.Errorf("document %d: %w", i, err)
				}
				sources[i] = source
			}
			return aggregate(sources)
		})
		if err != nil {
			record.Error = strings.ReplaceAll(err.Error(), "unable to unmarshal", "cannot unmarshal")
			return record, nil
		}
		d := newDocument(body)
		record.document = &d
		return record, nil
	})
}

// aggregate merges v2 documents into the first one, as servers merge those of aggregated APIs: paths must differ, and
// definitions and parameters are renamed if they clash. The result is printed as it is served.
func aggregate(sources [][]byte) ([]byte, error) {
	if len(sources) == 0 {
		return nil, errors.New("no documents")
	}
	merged := &spec.Swagger{}
	for i, source := range sources {
		doc := &spec.Swagger{}
		if err := json.Unmarshal(source, doc); err != nil {
			return nil, fmt.Errorf("document %d: %w", i, err)
		}
		if i == 0 {
			merged = doc
			continue
		}
		if err := aggregator.MergeSpecs(merged, doc); err != nil {
			return nil, fmt.Errorf("document %d: %w", i, err)
		}
	}
	return merged.MarshalJSON()
}
