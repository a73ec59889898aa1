package main

import (
	"encoding/json"
	"math/rand"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

var budgetReasons = []v1.DisruptionReason{
	v1.DisruptionReasonUnderutilized, v1.DisruptionReasonEmpty, v1.DisruptionReasonDrifted,
}

var budgetCounts = []int{0, 1, 2, 3, 5, 9, 10, 11, 19, 20, 33, 99, 100, 101, 250, 1000, 99_999}

var budgetNodes = []string{
	"0", "1", "2", "10", "007", "1000", "2147483647", "2147483648", "99999999999", "0%", "1%", "5%",
	"10%", "33%", "50%", "99%", "100%", "00%",
	"07%", "150%", "-1", "-5%", "+3", "", "abc", "5 %", " 5", "1.5", "1.5%", "%",
}

func budgetSections() []section {
	var rows []any
	noon := time.Date(2025, 6, 18, 12, 0, 0, 0, time.UTC)
	for _, nodes := range budgetNodes {
		for _, total := range budgetCounts {
			rows = append(
				rows,
				budgetRow(
					[]any{map[string]any{"nodes": nodes}}, noon.Unix(), total,
					v1.DisruptionReasonEmpty,
				),
			)
		}
	}
	rows = append(rows, budgetWindows()...)
	return []section{{"rows", append(rows, randomBudgets(random("budgets"))...)}}
}

// budgetWindows steps over the edges of each window.
func budgetWindows() []any {
	midnight := time.Date(2025, 6, 18, 0, 0, 0, 0, time.UTC)
	windows := []struct {
		schedule, duration string
		start              time.Time
		length             time.Duration
	}{
		{"@daily", "8h", midnight, 8 * time.Hour},
		{"0 9 * * MON-FRI", "8h", midnight.Add(9 * time.Hour), 8 * time.Hour},
		{"0 0 1 * *", "48h", time.Date(2025, 7, 1, 0, 0, 0, 0, time.UTC), 48 * time.Hour},
		{"*/30 * * * *", "10m", midnight, 10 * time.Minute},
		{"0 * * * *", "90m", midnight, 90 * time.Minute},
		{"0 12 * * *", "0m", midnight.Add(12 * time.Hour), 0},
		{"0 0 29 2 *", "24h", time.Date(2028, 2, 29, 0, 0, 0, 0, time.UTC), 24 * time.Hour},
		{"@yearly", "1h30m", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 90 * time.Minute},
		{"0 0 30 2 *", "1h", midnight, time.Hour},
		{"@every 1h", "30m", midnight, 30 * time.Minute},
		{"0 0 * * 7", "1h", midnight, time.Hour},
		{"", "1h", midnight, time.Hour},
	}
	var rows []any
	for _, w := range windows {
		for _, shift := range []time.Duration{
			-time.Hour, -time.Second, 0, time.Second, w.length / 2, w.length - time.Second,
			w.length, w.length + time.Second,
		} {
			budget := map[string]any{"nodes": "10%", "schedule": w.schedule, "duration": w.duration}
			rows = append(
				rows,
				budgetRow([]any{budget}, w.start.Add(shift).Unix(), 42, v1.DisruptionReasonDrifted),
			)
		}
	}
	onlySchedule := map[string]any{"nodes": "3", "schedule": "0 12 * * *"}
	onlyDuration := map[string]any{"nodes": "3", "duration": "1h"}
	for hour := 11; hour <= 13; hour++ {
		at := midnight.Add(time.Duration(hour) * time.Hour).Unix()
		rows = append(rows, budgetRow([]any{onlySchedule}, at, 42, v1.DisruptionReasonEmpty))
		rows = append(rows, budgetRow([]any{onlyDuration}, at, 42, v1.DisruptionReasonEmpty))
	}
	return rows
}

func randomBudgets(r *rand.Rand) []any {
	schedules := []string{
		"@daily", "@hourly", "@weekly", "0 9 * * MON-FRI", "*/15 * * * *", "0 22 * * *",
		"0 0 13 * FRI", "0 0 * * 7", "0 0 1,15 * *",
	}
	durations := []string{"5m", "1h", "90m", "8h", "10h30m", "24h", "72h", "168h"}
	var rows []any
	for range 700 {
		budgets := []any{}
		for range r.Intn(4) {
			budgets = append(budgets, randomBudget(r, schedules, durations))
		}
		at := time.Date(
			2024+r.Intn(8), time.Month(1+r.Intn(12)), 1+r.Intn(28), r.Intn(24),
			pick(r, []int{0, 15, 30, 59}), r.Intn(60), 0, time.UTC,
		)
		rows = append(
			rows, budgetRow(budgets, at.Unix(), pick(r, budgetCounts), pick(r, budgetReasons)),
		)
	}
	return rows
}

func randomBudget(r *rand.Rand, schedules, durations []string) map[string]any {
	budget := map[string]any{"nodes": pick(r, budgetNodes[:17])}
	if r.Intn(30) == 0 {
		budget["nodes"] = pick(r, budgetNodes)
	}
	if r.Intn(2) == 0 {
		budget["schedule"], budget["duration"] = pick(r, schedules), pick(r, durations)
	}
	if r.Intn(2) == 0 {
		reasons := []string{}
		for _, reason := range budgetReasons {
			if r.Intn(2) == 0 {
				reasons = append(reasons, string(reason))
			}
		}
		budget["reasons"] = reasons
	}
	return budget
}

func budgetRow(budgets []any, now int64, total int, reason v1.DisruptionReason) row {
	pool := &v1.NodePool{}
	decode(budgets, &pool.Spec.Disruption.Budgets)
	clock := clocktesting.NewFakeClock(time.Unix(now, 0).UTC())
	r := row{}.with("budgets", budgets).with("now", now).with("nodes", total).
		with("reason", string(reason))
	r = r.with("allowed", pool.MustGetAllowedDisruptions(clock, total, reason))
	if _, err := pool.GetAllowedDisruptionsByReason(clock, total, reason); err != nil {
		r = r.with("error", true)
	}
	return r
}

// decode turns a recorded document into a typed value the way a client would.
func decode(document, into any) {
	text, err := json.Marshal(document)
	if err != nil {
		panic(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		panic(err)
	}
}
