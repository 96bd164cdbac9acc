package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand"
	"strconv"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// drawOdd draws values, path elements and sets that readers and printers of JSON treat differently: escapes, halves of
// surrogate pairs, bytes that are not UTF-8, control characters, numbers at the limits, repeated keys, and what is
// almost JSON. `input` is in hexadecimal digits, because it is not always UTF-8.
func drawOdd(name string, random *rand.Rand) []record {
	g := oddGen{random}
	var out []record
	add := func(kind, input string, output []byte, err error) {
		r := record{"kind": kind, "test": name, "seq": len(out), "input": hex.EncodeToString([]byte(input)), "error": nil}
		if err != nil {
			r["error"] = err.Error()
		} else {
			r["output"] = string(output)
		}
		out = append(out, r)
	}
	for range 4 {
		input := g.value(3)
		v, err := value.FromJSON([]byte(input))
		var output []byte
		if err == nil {
			output, err = value.ToJSON(v)
		}
		add("odd.value", input, output, err)
	}
	for range 4 {
		input := g.set(2)
		set := fieldpath.NewSet()
		err := set.FromJSON(strings.NewReader(input))
		var output []byte
		if err == nil {
			output, err = set.ToJSON()
		}
		add("odd.set", input, output, err)
	}
	// A path element is a string of a decoded object, so it is UTF-8.
	for range 4 {
		input := strings.ToValidUTF8(g.element(), "\ufffd")
		e, err := fieldpath.DeserializePathElement(input)
		var output string
		if err == nil {
			output, err = fieldpath.SerializePathElement(e)
		}
		add("odd.element", input, []byte(output), err)
	}
	return out
}

type oddGen struct{ *rand.Rand }

func (g oddGen) one(of []string) string { return of[g.Intn(len(of))] }

var (
	// oddRuns are what strings consist of: characters that some printers escape, escapes, and wrong ones.
	oddRuns = []string{
		"a", "name", "<", ">", "&", "'", "/", "é", "✓", "😀", "\u2028", "\u2029", "\u202a", "\ufffd", "\x7f", "\u0080",
		`\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`, `\u0041`, `\u003c`, `\u0000`, `\u001F`, `\u00e9`, `\u2028`, `\uFFFD`, `\uffff`,
		`\ud83d\ude00`, `\uD83D\uDE00`,
	}
	// oddHalves are halves of surrogate pairs.
	oddHalves = []string{`\ud83d`, `\ude00`, `\ud83d\u0041`, `\ud83d\ud83d\ude00`, `\ude00\ud83d`, `\ud83dx`, `\ud83d\n`, `\udbff\udfff`, `\ud800\ue000`}
	// oddBytes are not UTF-8.
	oddBytes = []string{"\xff", "\xfe\xff", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xed\xa0\xbd", "\xc0\x80", "\xf4\x90\x80\x80", "\x80"}
	// oddMistakes are not allowed in strings.
	oddMistakes = []string{"\x01", "\x1f", "\t", "\n", "\x00", `\x`, `\u12`, `\u12g4`, `\'`, `\U0041`, `\`, `\ud83d\u12`, `\ud83d\`, `"`}

	oddNumbers = []string{
		"0", "-0", "1", "-1", "80", "1.0", "1.50", "0.1", "-0.0", "1e5", "1E+5", "1e-5", "1e-6", "1e-7", "1.5e-7", "-1e-9", "1e-10", "1e20", "1e21", "1e22",
		"1.25e30", "1e100", "1e-100", "123456789012345678", "9007199254740993", "-9007199254740993", "9223372036854775807", "9223372036854775808",
		"100000000000000000000", "1000000000000000000000", "1.7976931348623157e308", "5e-324", "1e-400", "0e10", "-0e-10", "0.000001", "0.0000001",
	}
	oddWrongNumbers = []string{"1e400", "-1e400", "+1", "-+1", "-+01", "--1", "01", "-01", "1.", ".5", "-.5", "1e", "1e+", "1.e5", "0x10", "1_000", "NaN", "Infinity", "-Infinity", "-", "1 2"}
	oddWords        = []string{"null", "true", "false"}
	oddWrongWords   = []string{"nul", "True", "nil", "undefined", "", "nullx", "truefalse", "'a'", "/*a*/1", "\ufeff1"}
	oddNames        = []string{"a", "b", "name", "key", "port", "a<b", "é", ""}
)

// run is the content of a string literal.
func (g oddGen) run() string {
	var b strings.Builder
	for range g.Intn(5) {
		switch n := g.Intn(40); {
		case n == 0:
			b.WriteString(g.one(oddMistakes))
		case n < 5:
			b.WriteString(g.one(oddHalves))
		case n < 8:
			b.WriteString(g.one(oddBytes))
		case n < 12:
			fmt.Fprintf(&b, `\u%04x`, g.Intn(0x10000))
		default:
			b.WriteString(g.one(oddRuns))
		}
	}
	return b.String()
}

func (g oddGen) blank() string {
	if g.Intn(30) == 0 {
		return g.one([]string{"\u00a0", "\v", "\x00", "x"})
	}
	return g.one([]string{"", "", "", "", "", "", " ", "\n", "\t\r"})
}

func (g oddGen) number() string {
	switch n := g.Intn(12); {
	case n == 0:
		return g.one(oddWrongNumbers)
	case n < 4:
		f := math.Float64frombits(g.Uint64())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return "0"
		}
		return strconv.FormatFloat(f, "feg"[g.Intn(3)], -1, 64)
	case n < 6:
		return strconv.FormatFloat(float64(g.Intn(1000000))*math.Pow10(g.Intn(40)-25), 'g', -1, 64)
	default:
		return g.one(oddNumbers)
	}
}

// value is JSON, or almost.
func (g oddGen) value(depth int) string {
	v := g.bare(depth)
	if g.Intn(40) == 0 {
		v += g.one([]string{"x", " 1", "{}", ",", "]", "\x00", "null"})
	}
	return g.blank() + v + g.blank()
}

func (g oddGen) bare(depth int) string {
	switch n := g.Intn(12); {
	case n < 4:
		return `"` + g.run() + `"`
	case n < 7:
		return g.number()
	case n < 8:
		if g.Intn(12) == 0 {
			return g.one(oddWrongWords)
		}
		return g.one(oddWords)
	case n < 9 && depth > 0:
		items := []string{}
		for range g.Intn(4) {
			items = append(items, g.value(depth-1))
		}
		if g.Intn(25) == 0 {
			items = append(items, "")
		}
		return "[" + strings.Join(items, ",") + "]"
	case depth > 0:
		return g.object(depth)
	default:
		return "1"
	}
}

// object often has one name several times.
func (g oddGen) object(depth int) string {
	members := []string{}
	for range g.Intn(4) {
		name := `"` + g.one(oddNames) + `"`
		switch g.Intn(12) {
		case 0:
			name = `"` + g.run() + `"`
		case 1:
			name = `"\u0061"`
		case 2:
			if g.Intn(4) == 0 {
				name = g.one([]string{"null", "1", "a", "true"})
			}
		}
		members = append(members, g.blank()+name+g.blank()+":"+g.value(depth-1))
	}
	if g.Intn(25) == 0 {
		members = append(members, g.one([]string{"", `"a"`, `"a":`, `:1`}))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// element is a serialized path element, or almost.
func (g oddGen) element() string {
	switch n := g.Intn(12); {
	case n < 3:
		// Names are not JSON.
		return "f:" + g.run()
	case n < 7:
		return "k:" + g.blank() + g.object(2) + g.one([]string{"", "", "", "", "", " ", "x"})
	case n < 10:
		return "v:" + g.value(2)
	case n < 11:
		return "i:" + g.one([]string{"0", "1", "-1", "+5", "007", "2147483648", "9223372036854775807", "9223372036854775808", "1.5", "", " 1", "1_0", "0x1"})
	default:
		return g.one([]string{"k:null", "k: null ", "k:[]", "k:1", `k:"a"`, "k:", "z:a", "", "f", "fa", "."})
	}
}

// set is the JSON of a set, or almost.
func (g oddGen) set(depth int) string {
	members := []string{}
	for range g.Intn(4) {
		key := "."
		if g.Intn(8) > 0 {
			key = g.element()
		}
		below := g.blank() + "{}"
		switch n := g.Intn(12); {
		case n == 0:
			below = "null"
		case n == 1 && g.Intn(3) == 0:
			below = g.value(1)
		case n < 6 && depth > 0:
			below = g.set(depth - 1)
		}
		members = append(members, g.blank()+g.literal(key)+g.blank()+":"+below)
	}
	return g.blank() + "{" + strings.Join(members, ",") + "}" + g.blank()
}

// literal is a string literal. Characters that need no escape sometimes have one; bytes that are not UTF-8 are kept.
func (g oddGen) literal(text string) string {
	var b bytes.Buffer
	b.WriteByte('"')
	for i := range len(text) {
		c := text[i]
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 && g.Intn(10) > 0, c < 0x80 && g.Intn(60) == 0:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
