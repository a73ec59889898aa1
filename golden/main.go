// Command golden records how the reference implementation behaves, one JSON file a table.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// table is one file of recordings.
type table struct {
	name   string
	record func() []section
}

// tables lists every file in the order of the README.
var tables = []table{
	{"quantity", quantitySections},
	{"duration", durationSections},
	{"cron", cronSections},
	{"budgets", budgetSections},
	{"requirements", requirementSections},
	{"requirement_sets", requirementSetSections},
	{"taints", taintSections},
	{"selectors", selectorSections},
	{"labels", labelSections},
	{"host_ports", hostPortSections},
	{"pod_requests", podRequestSections},
	{"nodepool_hash", nodePoolHashSections},
	{"conditions", conditionSections},
	{"validation", validationSections},
	{"kwok_instance_types", kwokInstanceTypeSections},
	{"fake_instance_types", fakeInstanceTypeSections},
}

func main() {
	// Some answers contain local times; the machine's zone must not show.
	time.Local = time.UTC
	// The reference logs what it thinks of odd inputs; here they are odd on purpose.
	klog.SetLogger(logr.Discard())
	log.SetLogger(logr.Discard())
	folder := "recorded"
	if err := os.MkdirAll(folder, 0o755); err != nil {
		fail(err)
	}
	for _, wanted := range os.Args[1:] {
		if !slices.ContainsFunc(tables, func(t table) bool { return t.name == wanted }) {
			fail(fmt.Errorf("there is no table named %q", wanted))
		}
	}
	for _, t := range tables {
		if len(os.Args) > 1 && !slices.Contains(os.Args[1:], t.name) {
			continue
		}
		text, count, err := render(t.record())
		if err != nil {
			fail(fmt.Errorf("table %s: %w", t.name, err))
		}
		path := filepath.Join(folder, t.name+".json")
		if err := os.WriteFile(path, text, 0o644); err != nil {
			fail(err)
		}
		fmt.Printf("%-20s %6d rows %4d KiB\n", t.name, count, (len(text)+1023)/1024)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "golden:", err)
	os.Exit(1)
}
