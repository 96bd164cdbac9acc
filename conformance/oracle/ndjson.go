package main

import (
	"bytes"
	"encoding/json"
	"io"
)

// encodeLine writes v as one line of JSON. HTML escaping is off so that embedded documents keep their bytes: documents
// that need escapes already have them.
func encodeLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// orderedField is one member of an object whose key order matters.
type orderedField struct {
	key   string
	value any
}

// ordered is a JSON object printed in the order given.
type ordered []orderedField

func (o ordered) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := encodeCompact(&b, f.key); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := encodeCompact(&b, f.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encodeCompact is encodeLine without the line feed.
func encodeCompact(b *bytes.Buffer, v any) error {
	if err := encodeLine(b, v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1)
	return nil
}
