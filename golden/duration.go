package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand"
	"strings"
	"time"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

var durationUnits = []string{"ns", "us", "µs", "μs", "ms", "s", "m", "h"}

var oddDurations = []string{
	"", "0", "-0", "+0", "00", "1", "-1", "+", "-", ".", "s", ".s", "-.s", "+.s", "1.s", ".5s",
	"-.5h", "+.5m", "0.s", "1..5s",
	"1.5.5s", " 1s", "1s ", "1 s", "1h 5m", "1d", "1w", "1y", "1S", "1H", "1M", "1Ms", "1min",
	"1sec", "1hr", "1e3s", "1_0s", "1,5s",
	"--1s", "+-1s", "1h-5m", "1h+5m", "h", "1hh", "1h1h", "1s1m1h", "720h", "8760h", "0s", "0h0m0s",
	"0m", "-0s", "1h0m0s", "24h",
	"90m", "90s", "3600s", "1h30m", "1h30m15s", "1h15m30.918273645s", "36h15m", "100ms", "1500ms",
	"1m1ms", "1us", "1ns", "0.1ns",
	"0.9ns", "1.9ns", "0.000000001s", "0.0000000001s", "0.9999999999s", "1.0000000019s",
	"2562047h47m16.854775807s",
	"2562047h47m16.854775808s", "-2562047h47m16.854775808s", "-2562047h47m16.854775809s",
	"2562048h", "9223372036s", "9223372037s",
	"9223372036854775807ns", "9223372036854775808ns", "-9223372036854775808ns",
	"-9223372036854775809ns", "9223372036854775809ns",
	"18446744073709551616ns", "9223372036.854775807s", "9223372036.854775808s",
	"0.3333333333333333333h", "0.100000000000000000000h",
	"0.9223372036854775807h", "0.9223372036854775808h", "1.00000000000000000000000001h", "3000000h",
	"99999999999999999999h", "Never",
	"never", "\"1h\"", "1h\n", "１h", "1h\x00", "10m0s", "5m0s0s", "0h", "1m0s", "12h0m", "300ms1us",
	"1.5h1.5m1.5s", "-1h30m", "+1h30m",
}

func durationSections() []section {
	r := random("duration")
	inputs := append([]string{}, oddDurations...)
	for _, unit := range durationUnits {
		for _, number := range []string{
			"0", "1", "-1", "7", "59", "60", "61", "1000", "1.5", "0.25", "-0.001", "1234567",
			"00012", "3.",
		} {
			inputs = append(inputs, number+unit)
		}
	}
	for range 350 {
		inputs = append(inputs, randomDuration(r))
	}
	var parse []any
	for _, in := range distinct(inputs) {
		parse = append(parse, parseDurationRow(in))
	}
	return []section{
		{"parse", parse}, {"format", formatDurations(r)}, {"nillable", nillableDurations()},
	}
}

func randomDuration(r *rand.Rand) string {
	var out strings.Builder
	out.WriteString(pick(r, []string{"", "", "", "-", "+"}))
	for range 1 + r.Intn(4) {
		fmt.Fprintf(&out, "%d", r.Intn(int(math.Pow10(1+r.Intn(6)))))
		if r.Intn(3) == 0 {
			fmt.Fprintf(&out, ".%0*d", 1+r.Intn(10), r.Intn(1000))
		}
		out.WriteString(pick(r, durationUnits))
	}
	if r.Intn(20) == 0 {
		out.WriteByte("x. 5-"[r.Intn(5)])
	}
	return out.String()
}

func parseDurationRow(in string) row {
	d, err := time.ParseDuration(in)
	if err != nil {
		return row{}.with("in", in).with("error", true)
	}
	return row{}.with("in", in).with("ns", int64(d)).with("text", d.String())
}

func formatDurations(r *rand.Rand) []any {
	list := []int64{
		0, 1, -1, 999, 1000, 1001, 999_999, 1_000_000, 999_999_999, 1_000_000_000, math.MaxInt64,
		math.MinInt64,
	}
	for _, base := range []time.Duration{
		time.Microsecond, time.Millisecond, time.Second, time.Minute, time.Hour, 24 * time.Hour,
	} {
		for _, factor := range []int64{1, 2, 10, 59, 60, 61, 100, 720} {
			for _, rest := range []int64{0, 1, -1, 500_000_000} {
				list = append(list, int64(base)*factor+rest)
			}
		}
	}
	for range 150 {
		list = append(list, r.Int63()>>uint(r.Intn(62))*int64(1-2*r.Intn(2)))
	}
	var rows []any
	for _, ns := range list {
		rows = append(rows, row{}.with("ns", ns).with("text", time.Duration(ns).String()))
	}
	return rows
}

func nillableDurations() []any {
	inputs := []string{
		`"Never"`, `"never"`, `""`, `null`, `0`, `3600`, `true`, `{}`, `[]`, `"0s"`, `"720h"`,
		`"1h0m0s"`, `"60m"`, `"3600s"`, `"1h30m"`,
		`"90m"`, `"-1h"`, `"1d"`, `"5"`, `"1.5h"`, `"\u0031h"`, ` "1h" `, `"1h `, `"NEVER"`,
		`" Never"`, `"100ms"`,
	}
	var rows []any
	for _, in := range inputs {
		rows = append(rows, nillableDurationRow(in))
	}
	return rows
}

func nillableDurationRow(in string) row {
	r := row{}.with("in", in)
	var d v1.NillableDuration
	if err := json.Unmarshal([]byte(in), &d); err != nil {
		return r.with("error", true)
	}
	out, err := json.Marshal(d)
	if err != nil {
		return r.with("error", true)
	}
	if d.Duration != nil {
		r = r.with("ns", int64(*d.Duration))
	}
	return r.with("out", string(out))
}
