package kubeshape_test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/kubeshape/kubeshape/kubeshape/go"
)

// BenchmarkWorld makes worlds from a snapshot with 200 definitions and 1,000 objects. The first one is not measured.
func BenchmarkWorld(b *testing.B) {
	var all strings.Builder
	for n := range 200 {
		all.WriteString("---\n" + strings.NewReplacer("example.com", fmt.Sprintf("g%d.example.com", n)).Replace(definition))
	}
	server := kubeshape.New(b, kubeshape.Options{Definitions: []string{write(b, definition+all.String())}})
	client, err := dynamic.NewForConfig(server.Config())
	if err != nil {
		b.Fatal(err)
	}
	for n := range 1000 {
		name := fmt.Sprintf("w%d", n)
		created := client.Resource(widgets).Namespace("default")
		if _, err := created.Create(b.Context(), widget(name, 1), metav1.CreateOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	snapshot, err := server.Snapshot(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	end := func(world *kubeshape.Server) {
		if err := world.Stop(); err != nil {
			b.Fatal(err)
		}
	}
	first, err := server.NewWorld(b.Context(), snapshot)
	if err != nil {
		b.Fatal(err)
	}
	end(first)
	for b.Loop() {
		world, err := server.NewWorld(b.Context(), snapshot)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		end(world)
		b.StartTimer()
	}
}
