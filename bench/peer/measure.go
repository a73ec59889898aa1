package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// roundsMax bounds the rounds of problems that take next to no time.
const roundsMax = 20

// settings says how to measure.
type settings struct {
	budget      time.Duration
	concurrency int
}

// round is one construction and one Solve on a scheduler of its own.
type round struct {
	ConstructNanos     int64  `json:"constructNanos"`
	SolveNanos         int64  `json:"solveNanos"`
	SolveCPUNanos      int64  `json:"solveCpuNanos"`
	NewNodes           int    `json:"newNodes"`
	PriceMicrosPerHour uint64 `json:"priceMicrosPerHour"`
}

// measure solves the problem at least once, and again while another round of the same length stays within the
// budget. The outcome kept is the cheapest one: the peer's differs a little from run to run.
func measure(from *problem, with settings) (*result, error) {
	p, err := newPeer(from, with.concurrency)
	if err != nil {
		return nil, err
	}
	runtime.GC()
	measured := newResult(from, p, with)
	measured.Memory.BeforeBytes = peakMemoryBytes()
	var spent time.Duration
	for len(measured.Rounds) < roundsMax {
		started := time.Now()
		one, placed, err := p.solveOnce()
		if err != nil {
			return nil, err
		}
		if len(measured.Rounds) == 0 {
			measured.Memory.PeakBytes = peakMemoryBytes()
		}
		if len(measured.Rounds) == 0 || placed.betterThan(&measured.outcome) {
			measured.outcome = *placed
		}
		measured.Rounds = append(measured.Rounds, one)
		took := time.Since(started)
		if spent += took; spent+took > with.budget {
			break
		}
	}
	measured.Memory.PeakAllRoundsBytes = peakMemoryBytes()
	fastest := slices.MinFunc(measured.Rounds, func(a, b round) int { return int(a.SolveNanos - b.SolveNanos) })
	measured.SolveNanos, measured.SolveCPUNanos = fastest.SolveNanos, fastest.SolveCPUNanos
	measured.PodsPerSecond = float64(len(p.pending)) / time.Duration(fastest.SolveNanos).Seconds()
	return measured, nil
}

// solveOnce times one round. The collector runs before each timing, as in Go's own benchmarks.
func (p *peer) solveOnce() (round, *outcome, error) {
	runtime.GC()
	started := time.Now()
	scheduler, err := p.newScheduler()
	if err != nil {
		return round{}, nil, err
	}
	constructed := time.Since(started)
	// Solve sorts the slice it is given.
	pods := slices.Clone(p.pending)
	runtime.GC()
	startedCPU := processCPU()
	started = time.Now()
	results, err := scheduler.Solve(p.ctx, pods)
	solved := time.Since(started)
	solvedCPU := processCPU() - startedCPU
	if err != nil {
		return round{}, nil, fmt.Errorf("the peer gave up: %w", err)
	}
	placed, err := newOutcome(&results)
	if err != nil {
		return round{}, nil, err
	}
	return round{
		ConstructNanos:     constructed.Nanoseconds(),
		SolveNanos:         solved.Nanoseconds(),
		SolveCPUNanos:      solvedCPU.Nanoseconds(),
		NewNodes:           len(placed.NewNodes),
		PriceMicrosPerHour: placed.priceMicrosPerHour(),
	}, placed, nil
}

// processCPU is the processor time this process has used so far, on all threads, collector included.
func processCPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(fmt.Sprintf("the kernel does not tell our own usage: %v", err))
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// peakMemoryBytes is the largest resident size this process ever had. Where the kernel does not tell, it is what
// the Go runtime obtained from the system.
func peakMemoryBytes() uint64 {
	if file, err := os.Open("/proc/self/status"); err == nil {
		defer file.Close()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			var kibibytes uint64
			if rest, found := strings.CutPrefix(lines.Text(), "VmHWM:"); found {
				if _, err := fmt.Sscanf(strings.TrimSpace(rest), "%d kB", &kibibytes); err == nil {
					return kibibytes * 1024
				}
			}
		}
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return memory.Sys
}
