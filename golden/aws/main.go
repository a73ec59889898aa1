// Command aws records how the reference's AWS provider writes user data.
//
// It is a module of its own: the provider is built with other versions than the tables of core are.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// reference is the module that answers.
const reference = "github.com/aws/karpenter-provider-aws"

func main() {
	// The reference logs the settings it drops; here they are there on purpose.
	log.SetLogger(logr.Discard())
	rows := userDataRows()
	text, err := render("rows", rows)
	if err != nil {
		fail(err)
	}
	path := filepath.Join("..", "recorded", "user_data.json")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		fail(err)
	}
	fmt.Printf("%-20s %6d rows %4d KiB\n", "user_data", len(rows), (len(text)+1023)/1024)
}

// render writes a file as the tables of core are written: a header, then one row per line.
func render(name string, rows []userDataRow) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	fmt.Fprintf(&out, "{\n\"reference\": {%q:%q},\n%q: [\n", reference, version(), name)
	for i, row := range rows {
		if i > 0 {
			out.WriteString(",\n")
		}
		if err := encoder.Encode(row); err != nil {
			return nil, err
		}
		out.Truncate(out.Len() - 1)
	}
	out.WriteString("\n]\n}\n")
	return out.Bytes(), nil
}

// version is the reference's, as built into this program.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, dependency := range info.Deps {
		if dependency.Path == reference {
			return dependency.Version
		}
	}
	return ""
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "golden/aws:", err)
	os.Exit(1)
}
