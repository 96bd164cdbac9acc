package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

type expressionRequest struct {
	ID         string `json:"id"`
	Expression struct {
		Expr     string                     `json:"expr"`
		Vars     map[string]string          `json:"vars"`
		Bindings map[string]json.RawMessage `json:"bindings"`
	} `json:"expression"`
}

type expressionRecord struct {
	ID           string                     `json:"id"`
	Expr         string                     `json:"expr"`
	Vars         map[string]string          `json:"vars,omitempty"`
	Bindings     map[string]json.RawMessage `json:"bindings,omitempty"`
	Issues       string                     `json:"issues,omitempty"`
	Errors       []issue                    `json:"errors,omitempty"`
	Type         string                     `json:"type,omitempty"`
	Estimate     []uint64                   `json:"estimate,omitempty"`
	Estimate10   []uint64                   `json:"estimate10,omitempty"`
	ProgramError string                     `json:"programError,omitempty"`
	Value        json.RawMessage            `json:"value,omitempty"`
	EvalError    string                     `json:"evalError,omitempty"`
	Cost         *uint64                    `json:"cost,omitempty"`
	Unordered    bool                       `json:"unordered,omitempty"`
	Panic        string                     `json:"panic,omitempty"`
}

type issue struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
}

func runExpressions(_ []string, in io.Reader, out *bufio.Writer) error {
	base, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Env(environment.StoredExpressions)
	if err != nil {
		return err
	}
	return eachRequest(in, out, func(r expressionRequest) (any, error) {
		record := expressionRecord{ID: r.ID, Expr: r.Expression.Expr, Vars: r.Expression.Vars, Bindings: r.Expression.Bindings}
		if err := guard(func() error { return judgeExpression(base, r, &record) }); err != nil {
			record.Panic = err.Error()
		}
		return record, nil
	})
}

// ten assumes that every value with a path has up to ten elements.
type ten struct{ library.CostEstimator }

func (ten) EstimateSize(element checker.AstNode) *checker.SizeEstimate {
	if len(element.Path()) > 0 {
		return &checker.SizeEstimate{Min: 0, Max: 10}
	}
	return nil
}

// attempts is how often a call is repeated to find out whether the order of a map changes the answer. Go walks two keys
// in the other order in one of eight cases.
const attempts = 100

// evaluations is how often an expression is evaluated: often if maps can be in it.
func evaluations(r expressionRequest) int {
	if strings.Contains(r.Expression.Expr, "{") || len(r.Expression.Bindings) > 0 {
		return attempts
	}
	return 1
}

func judgeExpression(base *cel.Env, r expressionRequest, record *expressionRecord) error {
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
	ast, issues := env.Compile(r.Expression.Expr)
	if issues.Err() != nil {
		record.Issues = issues.String()
		for _, e := range issues.Errors() {
			record.Errors = append(record.Errors, issue{e.Location.Line(), e.Location.Column(), e.Message})
		}
		return nil
	}
	record.Type = ast.OutputType().String()
	if estimate, err := env.EstimateCost(ast, &library.CostEstimator{}); err == nil {
		record.Estimate = []uint64{estimate.Min, estimate.Max}
	}
	if len(record.Vars) > 0 {
		if estimate, err := env.EstimateCost(ast, &library.CostEstimator{SizeEstimator: &ten{}}); err == nil {
			record.Estimate10 = []uint64{estimate.Min, estimate.Max}
		}
	}
	program, err := env.Program(ast, cel.CostLimit(celconfig.PerCallLimit), cel.CostTracking(&library.CostEstimator{}),
		cel.InterruptCheckFrequency(celconfig.CheckFrequency))
	if err != nil {
		record.ProgramError = err.Error()
		return nil
	}
	bindings := map[string]any{}
	for name, text := range r.Expression.Bindings {
		value, err := readValue(text)
		if err != nil {
			return err
		}
		bindings[name] = types.DefaultTypeAdapter.NativeToValue(value)
	}
	type answer struct {
		value any
		err   string
		cost  uint64
	}
	var first answer
	sameResult, sameCost, sameSorted := true, true, true
	for n := range evaluations(r) {
		value, details, err := program.ContextEval(context.Background(), bindings)
		var a answer
		if err != nil {
			a.err = err.Error()
		} else if a.value, err = writeValue(value); err != nil {
			return err
		}
		if details != nil && details.ActualCost() != nil {
			a.cost = *details.ActualCost()
		}
		if n == 0 {
			first = a
			continue
		}
		sameCost = sameCost && a.cost == first.cost
		sameResult = sameResult && a.err == first.err && reflect.DeepEqual(a.value, first.value)
		sameSorted = sameSorted && a.err == first.err && reflect.DeepEqual(sortedTexts(a.value), sortedTexts(first.value))
	}
	if sameCost {
		record.Cost = &first.cost
	}
	if !sameResult && !sameSorted {
		return nil
	}
	record.Unordered = !sameResult
	record.EvalError = first.err
	if first.err == "" {
		record.Value, err = json.Marshal(first.value)
	}
	return err
}

// sortedTexts returns the items of a list as sorted JSON, and other values unchanged.
func sortedTexts(value any) any {
	items, ok := value.([]any)
	if !ok {
		return value
	}
	var texts []string
	for _, item := range items {
		text, _ := json.Marshal(item)
		texts = append(texts, string(text))
	}
	slices.Sort(texts)
	return texts
}

var simpleTypes = map[string]*cel.Type{
	"bool": cel.BoolType, "int": cel.IntType, "uint": cel.UintType, "double": cel.DoubleType, "string": cel.StringType,
	"bytes": cel.BytesType, "dyn": cel.DynType, "null_type": cel.NullType, "google.protobuf.Duration": cel.DurationType,
	"google.protobuf.Timestamp": cel.TimestampType,
}

// parseType reads a type as cel-go prints it.
func parseType(text string) (*cel.Type, error) {
	if t, ok := simpleTypes[text]; ok {
		return t, nil
	}
	if inner, ok := between(text, "list("); ok {
		elem, err := parseType(inner)
		if err != nil {
			return nil, err
		}
		return cel.ListType(elem), nil
	}
	if inner, ok := between(text, "optional_type("); ok {
		elem, err := parseType(inner)
		if err != nil {
			return nil, err
		}
		return cel.OptionalType(elem), nil
	}
	if inner, ok := between(text, "map("); ok {
		key, value, found := strings.Cut(inner, ", ")
		keyType, err := parseType(key)
		if !found || err != nil {
			return nil, fmt.Errorf("type %q", text)
		}
		valueType, err := parseType(value)
		if err != nil {
			return nil, err
		}
		return cel.MapType(keyType, valueType), nil
	}
	return nil, fmt.Errorf("type %q", text)
}

func between(text, start string) (string, bool) {
	inner, ok := strings.CutPrefix(text, start)
	return strings.TrimSuffix(inner, ")"), ok
}

// readValue reads a value in the form of the records.
func readValue(text json.RawMessage) (any, error) {
	var number int64
	if json.Unmarshal(text, &number) == nil && text[0] != 'n' {
		return number, nil
	}
	switch text[0] {
	case 'n', 't', 'f', '"':
		var value any
		if err := json.Unmarshal(text, &value); err != nil {
			return nil, err
		}
		if value == nil {
			return types.NullValue, nil
		}
		return value, nil
	case '[':
		var items []json.RawMessage
		if err := json.Unmarshal(text, &items); err != nil {
			return nil, err
		}
		list := []any{}
		for _, item := range items {
			value, err := readValue(item)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	}
	var form struct {
		Uint      *uint64               `json:"uint"`
		Double    json.RawMessage       `json:"double"`
		Bytes     *string               `json:"bytes"`
		Duration  string                `json:"duration"`
		Timestamp string                `json:"timestamp"`
		Map       *[][2]json.RawMessage `json:"map"`
		Optional  *[]json.RawMessage    `json:"optional"`
	}
	if err := json.Unmarshal(text, &form); err != nil {
		return nil, err
	}
	switch {
	case form.Uint != nil:
		return *form.Uint, nil
	case form.Double != nil:
		return strconv.ParseFloat(strings.Trim(string(form.Double), `"`), 64)
	case form.Bytes != nil:
		return base64.StdEncoding.DecodeString(*form.Bytes)
	case form.Duration != "":
		return time.ParseDuration(form.Duration)
	case form.Timestamp != "":
		return time.Parse(time.RFC3339Nano, form.Timestamp)
	case form.Map != nil:
		entries := map[ref.Val]ref.Val{}
		for _, pair := range *form.Map {
			key, err := readValue(pair[0])
			if err != nil {
				return nil, err
			}
			value, err := readValue(pair[1])
			if err != nil {
				return nil, err
			}
			entries[types.DefaultTypeAdapter.NativeToValue(key)] = types.DefaultTypeAdapter.NativeToValue(value)
		}
		return types.NewRefValMap(types.DefaultTypeAdapter, entries), nil
	case form.Optional != nil:
		if len(*form.Optional) == 0 {
			return types.OptionalNone, nil
		}
		value, err := readValue((*form.Optional)[0])
		if err != nil {
			return nil, err
		}
		return types.OptionalOf(types.DefaultTypeAdapter.NativeToValue(value)), nil
	}
	return nil, fmt.Errorf("value %s", text)
}

// writeValue returns a value in the form of the records.
func writeValue(value ref.Val) (any, error) {
	switch v := value.(type) {
	case *types.Err:
		return map[string]any{"error": v.Error()}, nil
	case types.Null:
		return nil, nil
	case types.Bool:
		return bool(v), nil
	case types.Int:
		return int64(v), nil
	case types.Uint:
		return map[string]any{"uint": uint64(v)}, nil
	case types.Double:
		return map[string]any{"double": double(float64(v))}, nil
	case types.String:
		return string(v), nil
	case types.Bytes:
		return map[string]any{"bytes": []byte(v)}, nil
	case types.Duration:
		return map[string]any{"duration": seconds(v.Duration)}, nil
	case types.Timestamp:
		return map[string]any{"timestamp": v.Time.UTC().Format(time.RFC3339Nano)}, nil
	case ref.Type:
		return map[string]any{"type": v.TypeName()}, nil
	case *types.Optional:
		if !v.HasValue() {
			return map[string]any{"optional": []any{}}, nil
		}
		inner, err := writeValue(v.GetValue())
		return map[string]any{"optional": []any{inner}}, err
	case apiservercel.Quantity:
		return map[string]any{"quantity": v.Quantity.String()}, nil
	case apiservercel.IP:
		return map[string]any{"ip": v.Addr.String()}, nil
	case apiservercel.CIDR:
		return map[string]any{"cidr": v.Prefix.String()}, nil
	case apiservercel.URL:
		return map[string]any{"url": v.URL.String()}, nil
	case apiservercel.Semver:
		return map[string]any{"semver": v.Version.String()}, nil
	case apiservercel.Format:
		return map[string]any{"format": v.Name}, nil
	case traits.Mapper:
		type pair struct {
			text  string
			value [2]any
		}
		pairs := []pair{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			k, err := writeValue(key)
			if err != nil {
				return nil, err
			}
			inner, err := writeValue(v.Get(key))
			if err != nil {
				return nil, err
			}
			text, err := json.Marshal([2]any{k, inner})
			if err != nil {
				return nil, err
			}
			pairs = append(pairs, pair{string(text), [2]any{k, inner}})
		}
		sort.Slice(pairs, func(i, j int) bool { return pairs[i].text < pairs[j].text })
		list := []any{}
		for _, p := range pairs {
			list = append(list, p.value[:])
		}
		return map[string]any{"map": list}, nil
	case traits.Lister:
		list := []any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			inner, err := writeValue(it.Next())
			if err != nil {
				return nil, err
			}
			list = append(list, inner)
		}
		return list, nil
	}
	// Upstream returns a pointer here instead of the value.
	return map[string]any{"celType": value.Type().TypeName(), "go": fmt.Sprintf("%T", value)}, nil
}

func double(v float64) any {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	case v == 0 && math.Signbit(v):
		return "-0"
	}
	return v
}

func seconds(d time.Duration) string {
	whole := d / time.Second
	text := strconv.FormatInt(int64(whole), 10)
	if rest := d % time.Second; rest != 0 {
		if rest < 0 {
			rest = -rest
		}
		text += "." + strings.TrimRight(fmt.Sprintf("%09d", rest), "0")
		if d < 0 && whole == 0 {
			text = "-" + text
		}
	}
	return text + "s"
}
