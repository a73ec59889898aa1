// Command peer makes scheduling problems, has Karpenter's scheduler solve them, and measures that.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const usage = `peer generate WORKLOAD [--pods N] [--seed S] > problem.json
peer solve PROBLEM.json|- [--budget 10s] [--concurrency 5] > result.json
peer list
peer all --out DIR [--quick] [--only NAME,…] [--seed S] [--budget 10s] [--concurrency 5]
`

const (
	seedDefault   = 42
	budgetDefault = 10 * time.Second
	// concurrencyDefault is what the peer's own benchmark asks for.
	concurrencyDefault = 5
)

func main() {
	// The peer logs each decision; a benchmark of logging is not wanted.
	klog.SetLogger(logr.Discard())
	log.SetLogger(logr.Discard())
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("which of these?\n%s", usage)
	}
	switch command, rest := args[0], args[1:]; command {
	case "generate":
		return runGenerate(rest)
	case "solve":
		return runSolve(rest)
	case "list":
		return runList()
	case "all":
		return runAll(rest)
	default:
		return fmt.Errorf("there is no command %q\n%s", command, usage)
	}
}

func runGenerate(args []string) error {
	name, rest, err := subject(args)
	if err != nil {
		return err
	}
	wanted, err := workloadNamed(name)
	if err != nil {
		return err
	}
	flags := flag.NewFlagSet("generate", flag.ContinueOnError)
	pods := flags.Int("pods", wanted.sizes[0], "number of pods to place")
	seed := flags.Uint64("seed", seedDefault, "seed of everything drawn by chance")
	if err := flags.Parse(rest); err != nil {
		return err
	}
	if *pods < 1 {
		return fmt.Errorf("--pods is %d; at least one is needed", *pods)
	}
	return wanted.generate(*pods, *seed).write(os.Stdout)
}

func runSolve(args []string) error {
	path, rest, err := subject(args)
	if err != nil {
		return err
	}
	flags := flag.NewFlagSet("solve", flag.ContinueOnError)
	with := measureFlags(flags)
	if err := flags.Parse(rest); err != nil {
		return err
	}
	from := io.Reader(os.Stdin)
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		from = file
	}
	given, err := readProblem(from)
	if err != nil {
		return err
	}
	measured, err := measure(given, *with)
	if err != nil {
		return err
	}
	return measured.write(os.Stdout)
}

func runList() error {
	for _, one := range workloads {
		fmt.Printf("%-14s %s (pods: %s)\n", one.name, one.about, strings.Trim(fmt.Sprint(one.sizes), "[]"))
	}
	return nil
}

// subject is the argument that stands before the flags.
func subject(args []string) (string, []string, error) {
	if len(args) == 0 || (strings.HasPrefix(args[0], "-") && args[0] != "-") {
		return "", nil, fmt.Errorf("a name must stand before the options\n%s", usage)
	}
	return args[0], args[1:], nil
}

func measureFlags(flags *flag.FlagSet) *settings {
	var with settings
	flags.DurationVar(&with.budget, "budget", budgetDefault, "time for rounds after the first")
	flags.IntVar(&with.concurrency, "concurrency", concurrencyDefault, "the peer's number of concurrent evaluations")
	return &with
}
