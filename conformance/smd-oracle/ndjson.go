package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
)

// record is one line of output. Its members are printed in the order of their names.
type record = map[string]any

// writeLine writes v as one line of JSON, without the escapes of HTML.
func writeLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// writeGzip writes a gzipped file that depends only on its content.
func writeGzip(path string, content []byte) error {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(content); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, packed.Bytes(), 0o644)
}
