package main

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/NYTimes/gziphandler"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	"k8s.io/kube-openapi/pkg/handler"
	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Files of a served folder: the documents of a server under their paths.
const (
	folderV3       = "openapi/v3"
	fileV2         = "openapi/v2"
	fileAggregated = "apis"
)

// paths is a mux with the interface that the libraries need to register their handlers.
type paths struct{ *http.ServeMux }

func (p paths) HandlePrefix(path string, handler http.Handler) { p.Handle(path, handler) }

// serve responds with only the libraries' handlers: no authentication, no audit, no metrics of requests, and no limits,
// all of which a real server has.
func serve(address, folder string) error {
	mux := paths{http.NewServeMux()}
	if err := serveV3(mux, filepath.Join(folder, folderV3)); err != nil {
		return err
	}
	if err := serveV2(mux, filepath.Join(folder, fileV2)); err != nil {
		return err
	}
	if err := serveDiscovery(mux, filepath.Join(folder, fileAggregated)); err != nil {
		return err
	}
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "ok")
	})
	return http.ListenAndServe(address, mux)
}

func serveV3(mux paths, folder string) error {
	service := handler3.NewOpenAPIService()
	documents, err := readV3(folder)
	if err != nil {
		return err
	}
	for path, document := range documents {
		service.UpdateGroupVersion(path, document)
	}
	// Upstream never compresses v3. Below this prefix, it is compressed as its v2 handler does.
	mux.Handle("/compressed/", http.StripPrefix("/compressed", gziphandler.GzipHandler(mux)))
	return service.RegisterOpenAPIV3VersionedService("/openapi/v3", mux)
}

// readV3 reads the documents below a folder.
func readV3(folder string) (map[string]*spec3.OpenAPI, error) {
	documents := map[string]*spec3.OpenAPI{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".json") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		document := &spec3.OpenAPI{}
		if err := json.Unmarshal(text, document); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		name, err := filepath.Rel(folder, path)
		documents[strings.TrimSuffix(filepath.ToSlash(name), ".json")] = document
		return err
	})
	return documents, err
}

func readV2(file string) (*spec.Swagger, error) {
	text, err := os.ReadFile(file + ".json")
	if err != nil {
		return nil, err
	}
	document := &spec.Swagger{}
	return document, json.Unmarshal(text, document)
}

func serveV2(mux paths, file string) error {
	document, err := readV2(file)
	if err != nil {
		return err
	}
	handler.NewOpenAPIService(document).RegisterOpenAPIVersionedService("/openapi/v2", mux)
	return nil
}

func serveDiscovery(mux paths, file string) error {
	text, err := os.ReadFile(file + ".json")
	if err != nil {
		return err
	}
	var list apidiscoveryv2.APIGroupDiscoveryList
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	manager := aggregated.NewResourceManager("/apis")
	for at, group := range list.Items {
		for _, version := range group.Versions {
			manager.AddGroupVersion(group.Name, version)
			gv := metav1.GroupVersion{Group: group.Name, Version: version.Version}
			// The order of the list.
			manager.SetGroupVersionPriority(gv, len(list.Items)-at, 15)
		}
	}
	mux.Handle("/apis", manager)
	return nil
}
