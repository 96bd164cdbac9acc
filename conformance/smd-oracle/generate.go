package main

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// sequencesPerSchema is the number of sequences that share a schema.
const sequencesPerSchema = 4

// runGenerate writes records of generated schemas, sequences and calls. Record i depends only on the seed and on i.
func runGenerate(args []string, out *bufio.Writer) error {
	flags := flag.NewFlagSet("generate", flag.ExitOnError)
	seed := flags.Int64("seed", 1, "where generating begins")
	count := flags.Int("count", 5000, "how many sequences, and as many of everything else")
	what := flags.String("what", "ssa,typed,sets", "which records")
	only := flags.String("only", "", "numbers of the sequences to generate, with commas between them; all below the count without it")
	flags.IntVar(&patience, "patience", patience, "how many times as often as usual calls are repeated")
	flags.Parse(args)
	if flags.NArg() > 0 {
		return fmt.Errorf("generate: no argument expected, found %q", flags.Arg(0))
	}
	if patience < 1 {
		return fmt.Errorf("generate: -patience must be at least 1, found %d", patience)
	}
	numbers, err := numbersOf(*only, *count)
	if err != nil {
		return err
	}
	debug.SetGCPercent(400)
	underAClock(func(bubble func(func())) {
		err := generate(*seed, numbers, strings.Split(*what, ","), out, bubble)
		if flushErr := out.Flush(); err == nil {
			err = flushErr
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "smd-oracle:", err)
			os.Exit(1)
		}
	})
	return nil
}

// numbersOf reads the numbers of sequences, which must ascend.
func numbersOf(list string, count int) ([]int, error) {
	numbers := []int{}
	if list == "" {
		for i := range count {
			numbers = append(numbers, i)
		}
		return numbers, nil
	}
	for _, text := range strings.Split(list, ",") {
		number, err := strconv.Atoi(text)
		if err != nil || number < 0 || len(numbers) > 0 && number <= numbers[len(numbers)-1] {
			return nil, fmt.Errorf("generate: -only must be ascending numbers, found %q", text)
		}
		numbers = append(numbers, number)
	}
	return numbers, nil
}

func generate(seed int64, numbers []int, what []string, out *bufio.Writer, bubble func(func())) error {
	var s *drawnSchema
	schemaAt := -1
	for _, i := range numbers {
		if at := i - i%sequencesPerSchema; at != schemaAt {
			var err error
			if s, err = drawSchema(rand.New(rand.NewSource(seed<<20 + int64(at)))); err != nil {
				return err
			}
			schemaAt = at
			if err := writeLine(out, record{"id": s.id, "schema": s.model}); err != nil {
				return err
			}
		}
		for k, kind := range what {
			random := rand.New(rand.NewSource(seed<<20 + int64(i)*8 + int64(k) + 1<<50))
			name := fmt.Sprintf("seed %d/%d", seed, i)
			var records []record
			var err error
			switch kind {
			case "ssa":
				var r record
				bubble(func() { r, err = drawSequence(name, random, s) })
				records = append(records, r)
			case "typed":
				records = drawTyped(name, random, s)
			case "sets":
				records = drawSets(name, random)
			case "odd":
				records = drawOdd(name, random)
			default:
				err = fmt.Errorf("generate: unknown records %q", kind)
			}
			if err != nil {
				return err
			}
			for _, r := range records {
				r["number"] = i
				if err := writeLine(out, r); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
