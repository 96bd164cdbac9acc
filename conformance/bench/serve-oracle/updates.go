package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/kube-openapi/pkg/handler"
	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"
)

// Updates is the cost of updates, in seconds of processor time of the whole process, including garbage collection; the
// best of some rounds.
type Updates struct {
	CRDs          int `json:"crds"`
	GroupVersions int `json:"group_versions"`
	// One group version changes: built, merged, set, and read by the next request, with the index.
	V3 float64 `json:"v3_seconds"`
	// One CRD changes: built, all merged, and read by the next request, as JSON and as protobuf.
	V2JSON float64 `json:"v2_json_seconds"`
	V2     float64 `json:"v2_seconds"`
	// Live bytes for each CRD with v3 documents that have been read, and when v2 has been read, too.
	V3Bytes float64 `json:"v3_bytes_per_crd"`
	V2Bytes float64 `json:"v2_bytes_per_crd"`
}

// updates measures the CustomResourceDefinitions of a folder's YAML files.
func updates(folder string, rounds int) error {
	crds, err := readCRDs(folder)
	if err != nil {
		return err
	}
	if len(crds) == 0 {
		return fmt.Errorf("%s: no CustomResourceDefinitions", folder)
	}
	before := live()
	out := Updates{CRDs: len(crds)}
	v3, documents, err := buildV3(crds)
	if err != nil {
		return err
	}
	out.GroupVersions = len(documents)
	get, err := handlerOf(v3)
	if err != nil {
		return err
	}
	if err := get("/openapi/v3"); err != nil {
		return err
	}
	for path := range documents {
		if err := get("/openapi/v3/" + path); err != nil {
			return err
		}
	}
	out.V3Bytes = float64(live()-before) / float64(len(crds))
	if out.V3, err = best(rounds, func(round int) error { return changeV3(v3, get, crds, documents, round) }); err != nil {
		return err
	}

	specs := make(map[string][]*spec.Swagger, len(crds))
	for _, crd := range crds {
		if specs[crd.Name], err = buildV2(crd); err != nil {
			return err
		}
	}
	// An aggregate without base documents: less than a real server's.
	info := &spec.Info{InfoProps: spec.InfoProps{Title: "Kubernetes", Version: "unversioned"}}
	static := &spec.Swagger{SwaggerProps: spec.SwaggerProps{Swagger: "2.0", Info: info, Paths: &spec.Paths{}}}
	service := handler.NewOpenAPIService(static)
	mux := http.NewServeMux()
	service.RegisterOpenAPIVersionedService("/openapi/v2", mux)
	change := func(accept string) func(int) error {
		get := func() error { return request(mux, "/openapi/v2", accept) }
		return func(round int) error { return changeV2(service, static, crds, specs, get, round) }
	}
	if out.V2JSON, err = best(rounds, change("application/json")); err != nil {
		return err
	}
	if out.V2, err = best(rounds, change("application/com.github.proto-openapi.spec.v2.v1.0+protobuf")); err != nil {
		return err
	}
	out.V2Bytes = float64(live()-before) / float64(len(crds))
	runtime.KeepAlive(documents)
	return json.NewEncoder(os.Stdout).Encode(out)
}

// changeV3 changes the first CRD and requests the index and its document, like a client that waits for it.
func changeV3(service *handler3.OpenAPIService, get func(string) error, crds []*apiextensionsv1.CustomResourceDefinition, documents map[string][]*spec3.OpenAPI, round int) error {
	crd := changed(crds[0], round)
	version := crd.Spec.Versions[0].Name
	built, err := builder.BuildOpenAPIV3(crd, version, builder.Options{})
	if err != nil {
		return err
	}
	path := "apis/" + crd.Spec.Group + "/" + version
	of := append([]*spec3.OpenAPI{built}, documents[path][1:]...)
	merged, err := builder.MergeSpecsV3(of...)
	if err != nil {
		return err
	}
	service.UpdateGroupVersion(path, merged)
	if err := get("/openapi/v3"); err != nil {
		return err
	}
	return get("/openapi/v3/" + path)
}

func changeV2(service *handler.OpenAPIService, static *spec.Swagger, crds []*apiextensionsv1.CustomResourceDefinition, specs map[string][]*spec.Swagger, get func() error, round int) error {
	var err error
	crd := changed(crds[0], round)
	if specs[crd.Name], err = buildV2(crd); err != nil {
		return err
	}
	var all []*spec.Swagger
	for _, crd := range crds {
		all = append(all, specs[crd.Name]...)
	}
	merged, err := builder.MergeSpecs(static, all...)
	if err != nil {
		return err
	}
	if err := service.UpdateSpec(merged); err != nil {
		return err
	}
	return get()
}

// changed is the CRD with another description.
func changed(crd *apiextensionsv1.CustomResourceDefinition, round int) *apiextensionsv1.CustomResourceDefinition {
	crd = crd.DeepCopy()
	for i := range crd.Spec.Versions {
		if schema := crd.Spec.Versions[i].Schema; schema != nil && schema.OpenAPIV3Schema != nil {
			schema.OpenAPIV3Schema.Description = fmt.Sprintf("Changed %d times.", round+1)
		}
	}
	return crd
}

func buildV3(crds []*apiextensionsv1.CustomResourceDefinition) (*handler3.OpenAPIService, map[string][]*spec3.OpenAPI, error) {
	documents := map[string][]*spec3.OpenAPI{}
	for _, crd := range crds {
		for _, version := range crd.Spec.Versions {
			if !version.Served {
				continue
			}
			document, err := builder.BuildOpenAPIV3(crd, version.Name, builder.Options{})
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", crd.Name, err)
			}
			path := "apis/" + crd.Spec.Group + "/" + version.Name
			documents[path] = append(documents[path], document)
		}
	}
	service := handler3.NewOpenAPIService()
	for path, of := range documents {
		merged, err := builder.MergeSpecsV3(of...)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		service.UpdateGroupVersion(path, merged)
	}
	return service, documents, nil
}

func buildV2(crd *apiextensionsv1.CustomResourceDefinition) ([]*spec.Swagger, error) {
	var out []*spec.Swagger
	for _, version := range crd.Spec.Versions {
		if !version.Served {
			continue
		}
		// As the publishing controller builds it.
		document, err := builder.BuildOpenAPIV2(crd, version.Name, builder.Options{V2: true})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", crd.Name, err)
		}
		out = append(out, document)
	}
	return out, nil
}

func readCRDs(folder string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var out []*apiextensionsv1.CustomResourceDefinition
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, document := range bytes.Split(text, []byte("\n---\n")) {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			if err := yaml.Unmarshal(document, crd); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			if crd.Kind != "CustomResourceDefinition" {
				continue
			}
			apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
			apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
			// Names are accepted immediately.
			crd.Status.AcceptedNames = crd.Spec.Names
			out = append(out, crd)
		}
	}
	return out, nil
}

// sink discards a response and keeps only its length.
type sink struct {
	header http.Header
	status int
	length int
}

func (s *sink) Header() http.Header { return s.header }

func (s *sink) WriteHeader(status int) { s.status = status }

func (s *sink) Write(p []byte) (int, error) {
	s.length += len(p)
	return len(p), nil
}

func request(handler http.Handler, path, accept string) error {
	request, err := http.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", accept)
	answer := &sink{header: http.Header{}, status: http.StatusOK}
	handler.ServeHTTP(answer, request)
	if answer.status != http.StatusOK {
		return fmt.Errorf("%s: status %d", path, answer.status)
	}
	return nil
}

func handlerOf(service *handler3.OpenAPIService) (func(string) error, error) {
	mux := paths{http.NewServeMux()}
	if err := service.RegisterOpenAPIV3VersionedService("/openapi/v3", mux); err != nil {
		return nil, err
	}
	return func(path string) error { return request(mux, path, "application/json") }, nil
}

// best is the least processor time of some rounds.
func best(rounds int, work func(round int) error) (float64, error) {
	least := time.Duration(1<<63 - 1)
	for round := range rounds {
		begin := processor()
		if err := work(round + 1); err != nil {
			return 0, err
		}
		least = min(least, processor()-begin)
	}
	return least.Seconds(), nil
}

func processor() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// live is the heap that is in use.
func live() int64 {
	debug.FreeOSMemory()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return int64(memory.HeapAlloc)
}
