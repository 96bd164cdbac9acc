package main

import (
	"bufio"
	"context"
	"io"
	"math"
	"runtime"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

// benchExpressionResult is the cost of an expression, in microseconds: of compiling it to a program, and of an
// evaluation. Without times, it has no value.
type benchExpressionResult struct {
	ID       string   `json:"id"`
	Compile  *float64 `json:"compile,omitempty"`
	Evaluate *float64 `json:"evaluate,omitempty"`
}

// bestOf returns the shortest of some rounds, in microseconds each.
func bestOf(times int, what func()) *float64 {
	best := math.Inf(1)
	for range 7 {
		start := time.Now()
		for range times {
			what()
		}
		best = min(best, float64(time.Since(start).Nanoseconds())/1e3/float64(times))
	}
	return &best
}

// runBenchExpressions measures a server's work on expressions, with costs as on a server.
func runBenchExpressions(_ []string, in io.Reader, out *bufio.Writer) error {
	runtime.GOMAXPROCS(1)
	base, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Env(environment.StoredExpressions)
	if err != nil {
		return err
	}
	return eachRequest(in, out, func(r expressionRequest) (any, error) {
		result := benchExpressionResult{ID: r.ID}
		err := guard(func() error { return benchExpression(base, r, &result) })
		if err != nil {
			return benchExpressionResult{ID: r.ID}, nil
		}
		return result, nil
	})
}

func benchExpression(base *cel.Env, r expressionRequest, result *benchExpressionResult) error {
	var options []cel.EnvOption
	for name, text := range r.Expression.Vars {
		t, err := parseType(text)
		if err != nil {
			return err
		}
		options = append(options, cel.Variable(name, t))
	}
	env, err := base.Extend(options...)
	if err != nil {
		return err
	}
	compile := func() (cel.Program, error) {
		ast, issues := env.Compile(r.Expression.Expr)
		if issues.Err() != nil {
			return nil, issues.Err()
		}
		return env.Program(ast, cel.CostLimit(celconfig.PerCallLimit), cel.CostTracking(&library.CostEstimator{}),
			cel.InterruptCheckFrequency(celconfig.CheckFrequency))
	}
	program, err := compile()
	if err != nil {
		return err
	}
	bindings := map[string]any{}
	for name, text := range r.Expression.Bindings {
		value, err := readValue(text)
		if err != nil {
			return err
		}
		bindings[name] = types.DefaultTypeAdapter.NativeToValue(value)
	}
	ctx := context.Background()
	if _, _, err := program.ContextEval(ctx, bindings); err != nil {
		return err
	}
	result.Compile = bestOf(1, func() { compile() })
	result.Evaluate = bestOf(20, func() { program.ContextEval(ctx, bindings) })
	return nil
}
