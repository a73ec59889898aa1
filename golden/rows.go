package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"runtime/debug"
	"strings"
)

// seed makes every random input the same on every run.
const seed = 20_240_229

// row is one JSON object whose members keep the order they are written in.
type row struct{ fields []field }

type field struct {
	name  string
	value any
}

// section is one array of a file.
type section struct {
	name string
	rows []any
}

// with returns the row with one more member.
func (r row) with(name string, value any) row {
	return row{append(r.fields[:len(r.fields):len(r.fields)], field{name, value})}
}

// MarshalJSON writes the members in order, without Go's escaping of <, > and &.
func (r row) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, f := range r.fields {
		if i > 0 {
			out.WriteByte(',')
		}
		value, err := compact(f.value)
		if err != nil {
			return nil, fmt.Errorf("member %s: %w", f.name, err)
		}
		fmt.Fprintf(&out, "%q:%s", f.name, value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// render writes a whole file: a header, then each section with one row per line.
func render(sections []section) ([]byte, int, error) {
	var out bytes.Buffer
	count := 0
	reference, err := compact(versions())
	if err != nil {
		return nil, 0, err
	}
	fmt.Fprintf(&out, "{\n\"reference\": %s", reference)
	for _, s := range sections {
		fmt.Fprintf(&out, ",\n%q: [", s.name)
		for i, r := range s.rows {
			if i > 0 {
				out.WriteByte(',')
			}
			line, err := compact(r)
			if err != nil {
				return nil, 0, fmt.Errorf("section %s, row %d: %w", s.name, i, err)
			}
			out.WriteByte('\n')
			out.Write(line)
			count++
		}
		out.WriteString("\n]")
	}
	out.WriteString("\n}\n")
	if !json.Valid(out.Bytes()) {
		return nil, 0, fmt.Errorf("the rendered text is not JSON")
	}
	return out.Bytes(), count, nil
}

// compact encodes a value on one line.
func compact(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimRight(out.Bytes(), "\n"), nil
}

// versions names the packages that answer, as built into this program.
func versions() map[string]string {
	wanted := []string{
		"sigs.k8s.io/karpenter", "k8s.io/api", "k8s.io/apimachinery", "k8s.io/component-helpers",
		"github.com/robfig/cron/v3", "github.com/awslabs/operatorpkg",
	}
	found := map[string]string{}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return found
	}
	for _, dependency := range info.Deps {
		for _, name := range wanted {
			if dependency.Path == name {
				found[name] = dependency.Version
			}
		}
	}
	return found
}

// random starts the table's own stream, so that one table's inputs do not shift another's.
func random(name string) *rand.Rand {
	state := int64(seed)
	for _, b := range []byte(name) {
		state = state*31 + int64(b)
	}
	return rand.New(rand.NewSource(state))
}

// pick returns one entry of a list.
func pick[T any](r *rand.Rand, list []T) T { return list[r.Intn(len(list))] }

// bits writes one character for each answer.
func bits(count int, answer func(int) bool) string {
	var out strings.Builder
	for i := range count {
		if answer(i) {
			out.WriteByte('1')
		} else {
			out.WriteByte('0')
		}
	}
	return out.String()
}

// distinct keeps the first of equal texts.
func distinct(list []string) []string {
	seen := map[string]bool{}
	var kept []string
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			kept = append(kept, s)
		}
	}
	return kept
}
