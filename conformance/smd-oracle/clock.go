package main

import (
	"os"
	"testing"
	"testing/synctest"
)

// underAClock runs work with a function that runs its argument in a bubble of its own, in which the clock begins at
// 2000-01-01T00:00:00Z and moves only when all goroutines sleep: apimachinery reads the clock itself. It does not
// return.
func underAClock(work func(bubble func(func()))) {
	// Bubbles are only available in tests, so the program becomes one. The testing package reads the command line once
	// more and prints PASS at the end.
	os.Args = os.Args[:1]
	matches := func(string, string) (bool, error) { return true, nil }
	test := testing.InternalTest{Name: "smd-oracle", F: func(t *testing.T) {
		work(func(f func()) { synctest.Test(t, func(*testing.T) { f() }) })
		os.Exit(0)
	}}
	testing.Main(matches, []testing.InternalTest{test}, nil, nil)
}
