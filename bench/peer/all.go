package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// entry is a line of index.json: where the two files of a measured problem are.
type entry struct {
	Workload string `json:"workload"`
	Pods     int    `json:"pods"`
	Problem  string `json:"problem"`
	Result   string `json:"result"`
}

// runAll generates and solves every workload in every size, each in a process of its own so that peak memory is
// that of one problem, and prints a table.
func runAll(args []string) error {
	flags := flag.NewFlagSet("all", flag.ContinueOnError)
	out := flags.String("out", "", "folder for the files")
	quick := flags.Bool("quick", false, "one small size of each workload, one round")
	only := flags.String("only", "", "names of workloads, with commas")
	seed := flags.Uint64("seed", seedDefault, "seed of everything drawn by chance")
	with := measureFlags(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *out == "" {
		return fmt.Errorf("all needs --out DIR")
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	if *quick {
		with.budget = 0
	}
	var entries []entry
	fmt.Printf("%-14s %6s %10s %9s %9s %6s %10s %9s %6s\n",
		"workload", "pods", "pods/s", "solve s", "CPU s", "nodes", "$/h", "peak MiB", "rounds")
	for _, one := range chosen {
		sizes := one.sizes
		if *quick {
			sizes = []int{one.quick}
		}
		for _, pods := range sizes {
			done, err := solveApart(one, pods, *seed, *out, *with)
			if err != nil {
				return fmt.Errorf("%s with %d pods: %w", one.name, pods, err)
			}
			entries = append(entries, done)
		}
	}
	return writeIndex(*out, entries)
}

func choose(only string) ([]workload, error) {
	if only == "" {
		return slices.DeleteFunc(slices.Clone(workloads), func(w workload) bool { return w.name == "sample" }), nil
	}
	var chosen []workload
	for name := range strings.SplitSeq(only, ",") {
		one, err := workloadNamed(name)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, one)
	}
	return chosen, nil
}

// solveApart runs `peer solve` on a generated problem.
func solveApart(one workload, pods int, seed uint64, folder string, with settings) (entry, error) {
	stem := fmt.Sprintf("%s-%d", one.name, pods)
	done := entry{Workload: one.name, Pods: pods, Problem: stem + ".problem.json", Result: stem + ".result.json"}
	file, err := os.Create(filepath.Join(folder, done.Problem))
	if err != nil {
		return done, err
	}
	if err := one.generate(pods, seed).write(file); err != nil {
		return done, err
	}
	if err := file.Close(); err != nil {
		return done, err
	}
	self, err := os.Executable()
	if err != nil {
		return done, err
	}
	solve := exec.Command(self, "solve", filepath.Join(folder, done.Problem),
		"--budget", with.budget.String(), "--concurrency", fmt.Sprint(with.concurrency))
	solve.Stderr = os.Stderr
	text, err := solve.Output()
	if err != nil {
		return done, err
	}
	if err := os.WriteFile(filepath.Join(folder, done.Result), text, 0o644); err != nil {
		return done, err
	}
	return done, printRow(one.name, text)
}

// printRow prints the headline figures of a result.
func printRow(name string, text []byte) error {
	var read struct {
		Pods               int
		PodsUnscheduled    int
		PodsPerSecond      float64
		SolveNanos         int64
		SolveCPUNanos      int64 `json:"solveCpuNanos"`
		NewNodeCount       int
		PriceMicrosPerHour uint64
		Memory             memory
		Rounds             []round
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	note := ""
	if read.PodsUnscheduled > 0 {
		note = fmt.Sprintf("  %d pods unscheduled", read.PodsUnscheduled)
	}
	fmt.Printf("%-14s %6d %10.1f %9.3f %9.3f %6d %10.4f %9d %6d%s\n",
		name, read.Pods, read.PodsPerSecond, float64(read.SolveNanos)/1e9, float64(read.SolveCPUNanos)/1e9,
		read.NewNodeCount, float64(read.PriceMicrosPerHour)/1e6, read.Memory.PeakBytes>>20, len(read.Rounds), note)
	return nil
}

func writeIndex(folder string, entries []entry) error {
	file, err := os.Create(filepath.Join(folder, "index.json"))
	if err != nil {
		return err
	}
	if err := writeMembers(file, []member{{"version", formatVersion}, {"runs", entries}}); err != nil {
		return err
	}
	return file.Close()
}
