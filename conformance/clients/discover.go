package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/disk"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
)

// Found is the result of client-go for a server.
type Found struct {
	Aggregated Discovered  `json:"aggregated"`
	Legacy     Discovered  `json:"legacy"`
	OpenAPIV3  []Document3 `json:"openapi_v3"`
	OpenAPIV2  Document2   `json:"openapi_v2"`
	Cached     Cached      `json:"cached"`
}

// Discovered is the result of one form of discovery.
type Discovered struct {
	// Requests that one reading of groups and resources took.
	Requests  []Exchange     `json:"requests"`
	Groups    []*v1.APIGroup `json:"groups"`
	Resources []Resource     `json:"resources"`
	// Preferred resources.
	Preferred []Resource `json:"preferred"`
	Mapper    Mapped     `json:"mapper"`
}

// Resource is a resource of a group version. Names are sorted, because the two forms do not keep their order.
type Resource struct {
	Group        string   `json:"group"`
	Version      string   `json:"version"`
	Name         string   `json:"name"`
	Kind         string   `json:"kind"`
	ResponseKind string   `json:"response_kind"`
	Singular     string   `json:"singular"`
	Namespaced   bool     `json:"namespaced"`
	Verbs        []string `json:"verbs"`
	ShortNames   []string `json:"short_names"`
	Categories   []string `json:"categories"`
}

// Exchange is a request and the status of its response.
type Exchange struct {
	Path   string `json:"path"`
	Status int    `json:"status"`
}

// Cached is the list of requests of a client with caches on disk.
type Cached struct {
	// The first reading of discovery and of a v3 document.
	First []Exchange `json:"first"`
	// The same by a new client with the same caches.
	Second []Exchange `json:"second"`
	// The same after the discovery was invalidated: the HTTP cache is left.
	Invalidated []Exchange `json:"invalidated"`
	// Whether all three found the same.
	Same bool `json:"same"`
}

// recorder keeps the exchanges.
type recorder struct {
	lock      sync.Mutex
	exchanges []Exchange
}

// RoundTripFunc is a function as http.RoundTripper.
type RoundTripFunc func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f RoundTripFunc) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func (r *recorder) wrap(inner http.RoundTripper) http.RoundTripper {
	return RoundTripFunc(func(request *http.Request) (*http.Response, error) {
		response, err := inner.RoundTrip(request)
		if err == nil {
			r.lock.Lock()
			defer r.lock.Unlock()
			r.exchanges = append(r.exchanges, Exchange{request.URL.Path, response.StatusCode})
		}
		return response, err
	})
}

// taken returns the exchanges since the last call, in the order of their paths.
func (r *recorder) taken() []Exchange {
	r.lock.Lock()
	defer r.lock.Unlock()
	taken := r.exchanges
	r.exchanges = nil
	sort.Slice(taken, func(i, j int) bool { return taken[i].Path < taken[j].Path })
	return taken
}

func config(server string, recorder *recorder) *rest.Config {
	return &rest.Config{Host: server, QPS: -1, Burst: 1000, WrapTransport: recorder.wrap}
}

func discover(server, cache string) (*Found, error) {
	var wire recorder
	client, err := discovery.NewDiscoveryClientForConfig(config(server, &wire))
	if err != nil {
		return nil, err
	}
	found := &Found{}
	if found.Aggregated, err = discovered(client, &wire, true); err != nil {
		return nil, fmt.Errorf("aggregated discovery: %w", err)
	}
	legacy := *client
	legacy.UseLegacyDiscovery = true
	if found.Legacy, err = discovered(&legacy, &wire, false); err != nil {
		return nil, fmt.Errorf("legacy discovery: %w", err)
	}
	if found.OpenAPIV3, err = documents3(client); err != nil {
		return nil, fmt.Errorf("OpenAPI v3: %w", err)
	}
	if found.OpenAPIV2, err = document2(client); err != nil {
		return nil, fmt.Errorf("OpenAPI v2: %w", err)
	}
	if found.Cached, err = cached(server, cache, &found.Aggregated); err != nil {
		return nil, fmt.Errorf("caches: %w", err)
	}
	return found, nil
}

func discovered(client discovery.DiscoveryInterface, wire *recorder, incomplete bool) (Discovered, error) {
	wire.taken()
	groups, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		return Discovered{}, err
	}
	out := Discovered{Requests: wire.taken(), Groups: groups}
	if out.Resources, err = resources(lists); err != nil {
		return out, err
	}
	preferred, err := client.ServerPreferredResources()
	if err != nil {
		return out, err
	}
	if out.Preferred, err = resources(preferred); err != nil {
		return out, err
	}
	out.Mapper, err = mapped(memory.NewMemCacheClient(client), out.Resources, incomplete)
	return out, err
}

// resources flattens lists, in order.
func resources(lists []*v1.APIResourceList) ([]Resource, error) {
	out := []Resource{}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, resource := range list.APIResources {
			out = append(out, described(version, &resource))
		}
	}
	sort.Slice(out, func(i, j int) bool { return key(&out[i]) < key(&out[j]) })
	return out, nil
}

func key(r *Resource) string { return strings.Join([]string{r.Group, r.Version, r.Name}, "\x00") }

func described(version schema.GroupVersion, resource *v1.APIResource) Resource {
	// A kind without group and version has those of the list.
	kind := schema.GroupVersionKind{Group: resource.Group, Version: resource.Version, Kind: resource.Kind}
	if kind.Version == "" {
		kind.Group, kind.Version = version.Group, version.Version
	}
	return Resource{
		Group: version.Group, Version: version.Version, Name: resource.Name, Kind: resource.Kind,
		ResponseKind: kind.GroupVersion().String() + ", " + kind.Kind,
		Singular:     resource.SingularName, Namespaced: resource.Namespaced,
		Verbs: ordered(resource.Verbs), ShortNames: ordered(resource.ShortNames), Categories: ordered(resource.Categories),
	}
}

func ordered(names []string) []string {
	out := append([]string{}, names...)
	sort.Strings(out)
	return out
}

func cached(server, cache string, expected *Discovered) (Cached, error) {
	out := Cached{Same: true}
	read := func(invalidate bool) ([]Exchange, error) {
		var wire recorder
		folder := func(name string) string { return filepath.Join(cache, name) }
		client, err := disk.NewCachedDiscoveryClientForConfig(
			config(server, &wire), folder("discovery"), folder("http"), 6*time.Hour)
		if err != nil {
			return nil, err
		}
		if invalidate {
			client.Invalidate()
		}
		_, lists, err := client.ServerGroupsAndResources()
		if err != nil {
			return nil, err
		}
		found, err := resources(lists)
		if err != nil {
			return nil, err
		}
		out.Same = out.Same && fmt.Sprint(found) == fmt.Sprint(expected.Resources)
		return append(wire.taken(), v3Exchanges(client, &wire, &out)...), nil
	}
	var err error
	if out.First, err = read(false); err != nil {
		return out, err
	}
	if out.Second, err = read(false); err != nil {
		return out, err
	}
	out.Invalidated, err = read(true)
	return out, err
}

// v3Exchanges reads every v3 document and returns the exchanges.
func v3Exchanges(client discovery.DiscoveryInterface, wire *recorder, out *Cached) []Exchange {
	if _, err := documents3(client); err != nil {
		out.Same = false
	}
	return wire.taken()
}
