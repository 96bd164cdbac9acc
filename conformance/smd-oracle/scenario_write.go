package main

import (
	"encoding/json"

	yaml "go.yaml.in/yaml/v3"
)

// setExpectations writes the result of a step into its node: the parts that are expected there, or if there are none,
// all parts except the message of conflicts.
func setExpectations(step *yaml.Node, parts []part) error {
	parts = wantedParts(member(step, "expect"), parts)
	for i := 0; i+1 < len(step.Content); i += 2 {
		if step.Content[i].Value == "expect" {
			step.Content = append(step.Content[:i:i], step.Content[i+2:]...)
			break
		}
	}
	if len(parts) == 0 {
		return nil
	}
	expect := &yaml.Node{Kind: yaml.MappingNode}
	for _, p := range parts {
		node, err := nodeOf(p.value)
		if err != nil {
			return err
		}
		// A list of entries has one per line.
		if list, ok := p.value.([]any); ok && len(list) > 0 && p.name != "object" {
			node.Style = 0
		}
		expect.Content = append(expect.Content, name(p.name), node)
	}
	step.Content = append(step.Content, name("expect"), expect)
	return nil
}

func wantedParts(expect *yaml.Node, parts []part) []part {
	var wanted []part
	conflicts := false
	for _, p := range parts {
		conflicts = conflicts || p.name == "conflicts"
		if expect != nil && member(expect, p.name) != nil {
			wanted = append(wanted, p)
		}
	}
	if len(wanted) > 0 {
		return wanted
	}
	for _, p := range parts {
		if !(conflicts && p.name == "error") {
			wanted = append(wanted, p)
		}
	}
	return wanted
}

func name(text string) *yaml.Node {
	node := &yaml.Node{}
	node.SetString(text)
	return node
}

// nodeOf is a value in flow style; parts keep their order.
func nodeOf(v any) (*yaml.Node, error) {
	switch v := v.(type) {
	case []part:
		node := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		for _, p := range v {
			item, err := nodeOf(p.value)
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, name(p.name), item)
		}
		return node, nil
	case json.RawMessage:
		return nodeOf(fromJSON(string(v)))
	case []any:
		node := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, item := range v {
			item, err := nodeOf(item)
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, item)
		}
		return node, nil
	case map[string]any:
		node := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		for _, key := range sortedKeys(v) {
			item, err := nodeOf(v[key])
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, name(key), item)
		}
		return node, nil
	default:
		node := &yaml.Node{}
		err := node.Encode(v)
		return node, err
	}
}
