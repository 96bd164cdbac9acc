package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// longValue is the length in bytes from which on only the length of an invalid value is recorded.
const longValue = 300

// judged is an error about a field, with its value.
type judged struct {
	Type          string          `json:"type"`
	Field         string          `json:"field"`
	Detail        string          `json:"detail"`
	BadValue      json.RawMessage `json:"badValue,omitempty"`
	BadValueBytes int             `json:"badValueBytes,omitempty"`
	// Text is the message.
	Text string `json:"text,omitempty"`
}

// selfType matches the random names that upstream gives the types of rules.
var selfType = regexp.MustCompile(`selfType[0-9]+`)

func judgedErrors(list field.ErrorList) []judged {
	found := []judged{}
	for _, err := range list {
		j := judged{Type: string(err.Type), Field: err.Field, Detail: selfType.ReplaceAllString(err.Detail, "selfTypeN")}
		j.Text = selfType.ReplaceAllString(err.Error(), "selfTypeN")
		if _, omitted := err.BadValue.(field.OmitValueType); !omitted && err.BadValue != nil {
			var text strings.Builder
			encoder := json.NewEncoder(&text)
			encoder.SetEscapeHTML(false)
			if encoder.Encode(err.BadValue) == nil {
				value := strings.TrimSuffix(text.String(), "\n")
				switch {
				case value == "null":
				case len(value) > longValue:
					j.BadValueBytes = len(value)
				default:
					j.BadValue = json.RawMessage(value)
				}
			}
		}
		found = append(found, j)
	}
	key := func(j judged) string {
		return j.Field + "\x00" + j.Type + "\x00" + j.Detail + "\x00" + string(j.BadValue)
	}
	sort.SliceStable(found, func(i, k int) bool { return key(found[i]) < key(found[k]) })
	return found
}

type definitionRequest struct {
	ID         string `json:"id"`
	Definition struct {
		New json.RawMessage `json:"new"`
		// Old is the definition before an update, with the condition Established if Established is set.
		Old         json.RawMessage `json:"old"`
		Established bool            `json:"established"`
	} `json:"definition"`
}

type definitionRecord struct {
	ID             string       `json:"id"`
	DecodeError    string       `json:"decodeError,omitempty"`
	Panic          string       `json:"panic,omitempty"`
	Unstable       bool         `json:"unstable,omitempty"`
	Errors         []judged     `json:"errors,omitempty"`
	Warnings       []string     `json:"warnings,omitempty"`
	UpdateErrors   *[]judged    `json:"updateErrors,omitempty"`
	UpdateWarnings *[]string    `json:"updateWarnings,omitempty"`
	Compile        []ruleRecord `json:"compile,omitempty"`
}

func runDefinitions(_ []string, in io.Reader, out *bufio.Writer) error {
	return eachRequest(in, out, func(r definitionRequest) (any, error) {
		record := definitionRecord{ID: r.ID}
		if err := guard(func() error { return judgeDefinition(r, &record) }); err != nil {
			var p panicked
			if errors.As(err, &p) {
				record.Panic = err.Error()
			} else {
				record.DecodeError = err.Error()
			}
		}
		return record, nil
	})
}

func decodeInternal(text []byte) (*apiextensions.CustomResourceDefinition, error) {
	object, err := runtime.Decode(codecs.UniversalDecoder(apiextensions.SchemeGroupVersion), text)
	if err != nil {
		return nil, err
	}
	crd, ok := object.(*apiextensions.CustomResourceDefinition)
	if !ok {
		return nil, errors.New("not a CustomResourceDefinition")
	}
	return crd, nil
}

// byChance has the beginnings of errors that upstream chooses at random: of rules with the same cost, of the members of
// a map, and of the properties in which selectable fields are looked up.
var byChance = []string{"contributed to ", "json: cannot unmarshal ", "OpenAPIV3Schema '"}

// mayDepend returns whether the order in which Go walks a map is visible in the errors. Metadata in a default is
// decoded in place until the first error, and the error about unknown fields shows the default.
func mayDepend(errors []judged) bool {
	return slices.ContainsFunc(errors, func(j judged) bool {
		if j.Detail == "must not have unknown fields" {
			return slices.ContainsFunc(errors, func(below judged) bool { return below.Field != j.Field && strings.HasPrefix(below.Field, j.Field) })
		}
		return slices.ContainsFunc(byChance, func(beginning string) bool { return strings.HasPrefix(j.Detail, beginning) })
	})
}

func judgeDefinition(r definitionRequest, record *definitionRecord) error {
	ctx := context.Background()
	strategy := customresourcedefinition.NewStrategy(scheme)
	crd, err := decodeInternal(r.Definition.New)
	if err != nil {
		return err
	}
	update := crd.DeepCopy()
	strategy.PrepareForCreate(ctx, crd)
	// Validation decodes metadata in defaults in place.
	created := crd.DeepCopy()
	record.Errors = judgedErrors(strategy.Validate(ctx, crd))
	record.Warnings = strategy.WarningsOnCreate(ctx, crd)
	if mayDepend(record.Errors) {
		for n := 0; n < attempts && !record.Unstable; n++ {
			record.Unstable = !reflect.DeepEqual(record.Errors, judgedErrors(strategy.Validate(ctx, created.DeepCopy())))
		}
	}
	if schema := storedSchema(crd); schema != nil {
		if structural, err := structuralschema.NewStructural(schema); err == nil {
			record.Compile = compileRules(structural)
		}
	}
	if len(r.Definition.Old) == 0 {
		return nil
	}
	old, err := decodeInternal(r.Definition.Old)
	if err != nil {
		return err
	}
	strategy.PrepareForCreate(ctx, old)
	old.ResourceVersion = "1"
	if r.Definition.Established {
		old.Status.Conditions = append(old.Status.Conditions, apiextensions.CustomResourceDefinitionCondition{
			Type: apiextensions.Established, Status: apiextensions.ConditionTrue,
		})
	}
	update.ResourceVersion = "1"
	// The endpoint does this before it calls the strategy.
	update.Generation = old.Generation
	strategy.PrepareForUpdate(ctx, update, old)
	list := judgedErrors(strategy.ValidateUpdate(ctx, update, old))
	warnings := strategy.WarningsOnUpdate(ctx, update, old)
	record.UpdateErrors, record.UpdateWarnings = &list, &warnings
	return nil
}

// storedSchema is the schema of the first version.
func storedSchema(crd *apiextensions.CustomResourceDefinition) *apiextensions.JSONSchemaProps {
	if crd.Spec.Validation != nil && crd.Spec.Validation.OpenAPIV3Schema != nil {
		return crd.Spec.Validation.OpenAPIV3Schema
	}
	if len(crd.Spec.Versions) > 0 && crd.Spec.Versions[0].Schema != nil {
		return crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	}
	return nil
}

// ruleRecord is the compiled form of the rules of one node.
type ruleRecord struct {
	Path              string        `json:"path"`
	Error             string        `json:"error,omitempty"`
	MinSerializedSize int64         `json:"minSerializedSize,omitempty"`
	Rules             []ruleVerdict `json:"rules,omitempty"`
}

type ruleVerdict struct {
	Compiled                 bool         `json:"compiled"`
	Error                    *ruleProblem `json:"error,omitempty"`
	UsesOldSelf              bool         `json:"usesOldSelf,omitempty"`
	MaxCost                  uint64       `json:"maxCost"`
	MaxCardinality           uint64       `json:"maxCardinality"`
	MessageExpressionMaxCost *uint64      `json:"messageExpressionMaxCost,omitempty"`
	MessageExpressionError   *ruleProblem `json:"messageExpressionError,omitempty"`
}

type ruleProblem struct {
	Type   string `json:"type"`
	Detail string `json:"detail"`
}

func problem(err *apiservercel.Error) *ruleProblem {
	if err == nil {
		return nil
	}
	return &ruleProblem{string(err.Type), selfType.ReplaceAllString(err.Detail, "selfTypeN")}
}

// compileRules compiles the rules of all nodes that the server's validator visits.
func compileRules(schema *structuralschema.Structural) []ruleRecord {
	var found []ruleRecord
	var visit func(path string, node *structuralschema.Structural, root bool, declType *apiservercel.DeclType)
	visit = func(path string, node *structuralschema.Structural, root bool, declType *apiservercel.DeclType) {
		if len(node.XValidations) > 0 {
			found = append(found, compileNode(path, node, declType))
		}
		var elem *apiservercel.DeclType
		if declType != nil {
			elem = declType.ElemType
		}
		if node.Items != nil {
			visit(path+"[]", node.Items, node.Items.XEmbeddedResource, elem)
		}
		for _, name := range slices.Sorted(maps.Keys(node.Properties)) {
			property := node.Properties[name]
			var fieldType *apiservercel.DeclType
			if escaped, ok := apiservercel.Escape(name); ok {
				if declType == nil {
					continue
				}
				f, ok := declType.Fields[escaped]
				if !ok {
					continue
				}
				fieldType = f.Type
			} else if fieldType = model.SchemaDeclType(&property, property.XEmbeddedResource); fieldType == nil {
				continue
			}
			key, _ := json.Marshal([]string{name})
			visit(path+string(key), &property, property.XEmbeddedResource, fieldType)
		}
		if node.AdditionalProperties != nil && node.AdditionalProperties.Structural != nil {
			inner := node.AdditionalProperties.Structural
			visit(path+"{}", inner, inner.XEmbeddedResource, elem)
		}
	}
	visit("", schema, true, model.SchemaDeclType(schema, true))
	return found
}

func compileNode(path string, node *structuralschema.Structural, declType *apiservercel.DeclType) ruleRecord {
	record := ruleRecord{Path: path}
	if declType != nil {
		record.MinSerializedSize = declType.MinSerializedSize
	}
	results, err := schemacel.Compile(node, declType, celconfig.PerCallLimit,
		environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), schemacel.StoredExpressionsEnvLoader())
	if err != nil {
		record.Error = err.Error()
		return record
	}
	for _, result := range results {
		verdict := ruleVerdict{
			Compiled:               result.Program != nil,
			Error:                  problem(result.Error),
			UsesOldSelf:            result.UsesOldSelf,
			MaxCost:                result.MaxCost,
			MaxCardinality:         result.MaxCardinality,
			MessageExpressionError: problem(result.MessageExpressionError),
		}
		if result.MessageExpression != nil {
			verdict.MessageExpressionMaxCost = &result.MessageExpressionMaxCost
		}
		record.Rules = append(record.Rules, verdict)
	}
	return record
}
