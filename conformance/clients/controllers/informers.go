package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// Informed is the result of a controller on informers.
type Informed struct {
	// Reconciled is the number of objects whose status the controller wrote, as the informer has them afterwards.
	Reconciled int `json:"reconciled"`
	// Conflicts is the number of writes that were rejected because the informer was behind.
	Conflicts int64 `json:"conflicts"`
	// Resumed is set if a watch continued without a new list after its connection broke.
	Resumed bool `json:"resumed"`
	// Relisted is set if a watch from a revision that is gone led to a new list.
	Relisted bool `json:"relisted"`
	// Deleted is set if the informer reported a deletion that happened while it did not watch.
	Deleted bool `json:"deleted"`
	// Same is set if the informer has the same objects as the server in the end.
	Same bool `json:"same"`
	// Bookmarks is set if every watch requested bookmarks.
	Bookmarks bool `json:"bookmarks"`
}

// line is a transport that counts how objects are read, and can break watches.
type line struct {
	next       http.RoundTripper
	lists      atomic.Int64
	watches    atomic.Int64
	unmarked   atomic.Int64
	gone       atomic.Int64
	isBroken   atomic.Bool
	mutex      sync.Mutex
	connection []*watched
}

func (l *line) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	isWatch := query.Get("watch") == "true" || query.Get("watch") == "1"
	if request.Method != http.MethodGet || !strings.HasSuffix(request.URL.Path, "/tabs") {
		return l.next.RoundTrip(request)
	}
	if l.isBroken.Load() {
		// A reflector continues the watch, and does not start again.
		return nil, syscall.ECONNREFUSED
	}
	// A watch with the initial events replaces a list.
	if !isWatch || query.Get("sendInitialEvents") == "true" {
		l.lists.Add(1)
	}
	if !isWatch {
		return l.next.RoundTrip(request)
	}
	l.watches.Add(1)
	if query.Get("allowWatchBookmarks") != "true" {
		l.unmarked.Add(1)
	}
	response, err := l.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusGone {
		l.gone.Add(1)
	}
	body := &watched{ReadCloser: response.Body, line: l}
	response.Body = body
	l.mutex.Lock()
	l.connection = append(l.connection, body)
	l.mutex.Unlock()
	return response, nil
}

// watched is the body of a watch, which detects whether it ends because its revision is gone.
type watched struct {
	io.ReadCloser
	line  *line
	isCut atomic.Bool
}

func (w *watched) Read(into []byte) (int, error) {
	n, err := w.ReadCloser.Read(into)
	// The watch ends as if its connection had. After an error about a closed body, a reflector would list again.
	if err != nil && w.isCut.Load() {
		err = io.EOF
	}
	if strings.Contains(string(into[:n]), `"code":410`) {
		w.line.gone.Add(1)
	}
	return n, err
}

// cut ends the watches.
func (l *line) cut() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, body := range l.connection {
		body.isCut.Store(true)
		_ = body.Close()
	}
	l.connection = nil
}

// informers runs a controller that writes the status of every object, and disturbs its watch.
func informers(ctx context.Context, config *rest.Config, count int) (*Informed, error) {
	writer, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	watching := rest.CopyConfig(config)
	line := &line{}
	watching.Wrap(func(next http.RoundTripper) http.RoundTripper {
		line.next = next
		return line
	})
	reader, err := dynamic.NewForConfig(watching)
	if err != nil {
		return nil, err
	}
	if err := create(ctx, writer, count); err != nil {
		return nil, err
	}

	found := &Informed{}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(reader, 0)
	informer := factory.ForResource(tabs)
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	defer queue.ShutDown()
	add := func(object any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil {
			queue.Add(key)
		}
	}
	var deleted atomic.Bool
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    add,
		UpdateFunc: func(_, object any) { add(object) },
		DeleteFunc: func(object any) {
			if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil && key == "default/tab-0" {
				deleted.Store(true)
			}
		},
	}
	if _, err := informer.Informer().AddEventHandler(handler); err != nil {
		return nil, err
	}
	var conflicts atomic.Int64
	for range 4 {
		go func() {
			for {
				key, over := queue.Get()
				if over {
					return
				}
				err := reconcile(ctx, informer.Lister(), writer, key)
				if apierrors.IsConflict(err) {
					conflicts.Add(1)
				}
				if err != nil && !apierrors.IsNotFound(err) {
					queue.AddRateLimited(key)
				} else {
					queue.Forget(key)
				}
				queue.Done(key)
			}
		}()
	}
	running, stop := context.WithCancel(ctx)
	factory.Start(running.Done())
	defer func() {
		stop()
		factory.Shutdown()
	}()
	reconciled := func() int {
		objects, _ := informer.Lister().List(labels.Everything())
		n := 0
		for _, object := range objects {
			if isReconciled(object.(*unstructured.Unstructured)) {
				n++
			}
		}
		return n
	}
	if err := until(ctx, "all objects are reconciled", func() bool { return reconciled() == count }); err != nil {
		return nil, fmt.Errorf("%w: %d of %d, %d lists, %d watches", err, reconciled(), count, line.lists.Load(), line.watches.Load())
	}
	found.Reconciled = reconciled()
	found.Conflicts = conflicts.Load()

	resize := func(name string, size int64) error {
		patch := fmt.Sprintf(`{"spec":{"size":%d}}`, size)
		_, err := writer.Resource(tabs).Namespace("default").Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	}
	has := func(name string, size int64) func() bool {
		return func() bool {
			object, err := informer.Lister().ByNamespace("default").Get(name)
			if err != nil {
				return false
			}
			got, _, _ := unstructured.NestedInt64(object.(*unstructured.Unstructured).Object, "spec", "size")
			return got == size
		}
	}
	lists := line.lists.Load()
	line.cut()
	if err := resize("tab-1", -1); err != nil {
		return nil, err
	}
	if err := until(ctx, "a watch goes on", has("tab-1", -1)); err != nil {
		return nil, err
	}
	found.Resumed = line.lists.Load() == lists

	// More changes than a server keeps.
	line.isBroken.Store(true)
	line.cut()
	if err := writer.Resource(tabs).Namespace("default").Delete(ctx, "tab-0", metav1.DeleteOptions{}); err != nil {
		return nil, err
	}
	note := strings.Repeat("x", 1<<20)
	for n := range 80 {
		patch := fmt.Sprintf(`{"spec":{"size":%d,"note":"%d%s"}}`, n, n, note)
		if _, err := writer.Resource(tabs).Namespace("default").Patch(ctx, "tab-2", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			return nil, err
		}
	}
	if err := resize("tab-3", -3); err != nil {
		return nil, err
	}
	line.isBroken.Store(false)
	if err := until(ctx, "a watch begins anew", has("tab-3", -3)); err != nil {
		return nil, err
	}
	if err := until(ctx, "a deletion is told", deleted.Load); err != nil {
		return nil, err
	}
	found.Relisted = line.lists.Load() > lists && line.gone.Load() > 0
	found.Deleted = deleted.Load()
	found.Bookmarks = line.watches.Load() > 0 && line.unmarked.Load() == 0

	same := func() bool {
		list, err := writer.Resource(tabs).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false
		}
		known, _ := informer.Lister().List(labels.Everything())
		revisions := map[string]string{}
		for _, object := range known {
			object := object.(*unstructured.Unstructured)
			revisions[object.GetName()] = object.GetResourceVersion()
		}
		for _, object := range list.Items {
			if revisions[object.GetName()] != object.GetResourceVersion() {
				return false
			}
		}
		return len(revisions) == len(list.Items)
	}
	if err := until(ctx, "the informer has what the server has", same); err != nil {
		return nil, err
	}
	found.Same = true
	return found, nil
}

func reconcile(ctx context.Context, lister cache.GenericLister, writer dynamic.Interface, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	object, err := lister.ByNamespace(namespace).Get(name)
	if err != nil {
		return err
	}
	wanted := object.(*unstructured.Unstructured).DeepCopy()
	if isReconciled(wanted) {
		return nil
	}
	if err := setReconciled(wanted); err != nil {
		return err
	}
	_, err = writer.Resource(tabs).Namespace(namespace).UpdateStatus(ctx, wanted, metav1.UpdateOptions{})
	return err
}
