package main

import (
	"bufio"
	"encoding/json"
	"io"
	"reflect"
)

// member is one member of a JSON object, in the order it is written.
type member struct {
	name  string
	value any
}

// writeMembers writes a JSON object with one member a line and, in members that are arrays of objects,
// one entry a line: small files, and differences that can be read.
func writeMembers(to io.Writer, members []member) error {
	out := bufio.NewWriter(to)
	out.WriteString("{")
	for i, m := range members {
		if i > 0 {
			out.WriteString(",")
		}
		out.WriteString("\n")
		text, err := json.Marshal(m.name)
		if err != nil {
			return err
		}
		out.Write(text)
		out.WriteString(": ")
		if err := writeValue(out, reflect.ValueOf(m.value)); err != nil {
			return err
		}
	}
	out.WriteString("\n}\n")
	// A bufio.Writer keeps its first error and gives it here.
	return out.Flush()
}

func writeValue(out *bufio.Writer, value reflect.Value) error {
	if value.Kind() != reflect.Slice {
		return writeJSON(out, value.Interface())
	}
	out.WriteString("[")
	for i := range value.Len() {
		if i > 0 {
			out.WriteString(",")
		}
		out.WriteString("\n  ")
		if err := writeJSON(out, value.Index(i).Interface()); err != nil {
			return err
		}
	}
	out.WriteString("]")
	return nil
}

func writeJSON(out *bufio.Writer, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	out.Write(text)
	return nil
}
