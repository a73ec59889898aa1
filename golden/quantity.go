package main

import (
	"fmt"
	"math/big"
	"math/rand"
	"strings"

	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
)

// quantitySuffixes are all suffixes the parser knows.
var quantitySuffixes = []string{
	"", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei",
	"e0", "e3", "E3", "e-3", "e+6", "e9", "e-9", "e1", "e-1", "e2", "E10", "e18",
}

// quantityNumbers are the interesting numbers to put before each suffix.
var quantityNumbers = []string{
	"0", "1", "-1", "+1", "7", "8", "9", "10", "12", "100", "999", "1000", "1001", "1023", "1024",
	"1025",
	"1500", "2048", "4096", "100000", "1000000", "1048576", "0.1", "0.5", "-0.5", "0.25", "1.5",
	"1.234",
	"12.3456", "0.001", "0.0001", "999.999", "-7.25", "3.",
}

// oddQuantities are texts at the edges of the grammar and of the number range.
var oddQuantities = []string{
	"", " ", "-", "+", ".", "-.", "+.", "..", "1..2", "1.2.3", ".5", "-.5", "+.5", ".5Gi", ".Gi",
	"5.", "5.Gi",
	"00", "000", "007", "-0", "+0", "-00.0", "0.0", "0.000", "0Gi", "-0Gi", "0m", "0e5", "00Mi",
	"0.5Ki", "0.1Ki",
	"1 Gi", " 1", "1 ", "1\n", "\t1", "1_000", "1,000", "one", "NaN", "Inf", "-Inf", "0x10", "0b1",
	"1e", "1E", "1ee3",
	"1e3.5", "1e1e1", "1e+", "1e-", "1e+-3", "e3", "E", "Gi", "m", "1K", "1KI", "1ki", "1mi", "1gi",
	"1MI", "1Mib", "1MB",
	"1GB", "1Gib", "1mm", "1nn", "1un", "1i", "1ni", "1mi3", "1Zi", "1Yi", "1Z", "1Y", "1h", "1d",
	"1%", "1$", "½", "1٣",
	"--1", "++1", "+-1", "-+1", "1-", "1+", "1-1", "9223372036854775807", "9223372036854775808",
	"-9223372036854775807", "-9223372036854775808", "-9223372036854775809", "18446744073709551616",
	"99999999999999999999", "999999999999999999", "1000000000000000000",
	"100000000000000000000000000000",
	"9223372036854775807m", "9223372036854775807n", "9223372036854775807k", "9223372036854775807Ki",
	"9223372036854775807Ei",
	"7Ei", "8Ei", "9Ei", "-8Ei", "-9Ei", "8191Pi", "8192Pi", "8193Pi", "9E", "10E", "-10E", "100E",
	"9000P", "9223P", "9224P",
	"1e19", "1e20", "1e100", "1e-100", "-1e-100", "1e-10", "9e-10", "1.1n", "0.5n", "0.1n", "-0.1n",
	"0.0000000001",
	"0.00000000049", "-0.0000000001", "1.0000000001", "1.9999999999", "-1.9999999999", "0.1u",
	"0.0001u", "1.0001m",
	"1.00000000000000000000001", "123456789012345678.123456789", "0.123456789", "0.1234567891",
	"123.456n", "1.5Ei", "0.5Ei",
	"0.9Ki", "0.99Ki", "1.1Ki", "1.001Ki", "1.0009765625Ki", "0.0009765625Ki", "0.00048828125Ki",
	"0.0001Gi", "1.3Gi", "2.7Ti",
	"1.5Mi", "1.25Gi", "1536Mi", "1536Ki", "10240Mi", "1023Mi", "1024Mi", "1025Mi", "-1536Mi",
	"3Gi", "3072Mi", "12345678Ki",
	"1000m", "1500m", "2000m", "100m", "1m", "999m", "1001m", "0.1m", "1e3", "1000e3", "1500e3",
	"12e6", "1.5e3", "1.5e6", "1.234e3",
	"1e-3", "1500e-3", "1e1", "12e1", "10e2", "1e2", "100e1", "1e4", "1e5", "1e7", "123e-1", "1.e3",
	".1e3", "1e03", "1e003", "1e-03",
	"1e99999999999999999999", "1e4294967299", "1e-4294967299", "1e30", "1e-30", "12345e-12",
	"1e-12",
	"0000000000000000000000001", "1.000", "1.500", "1.5000", "1.2340", "0.100", "1000.000",
	"1234.5678", "12345678.9", "+5", "+1.5Gi",
	"+1000", "01", "01.5", "-01", "0001Gi", "4294967296", "2147483648Ki", "1099511627776m",
	"281474976710656", "1125899906842624u",
}

func quantitySections() []section {
	r := random("quantity")
	inputs := quantityInputs(r)
	var parsed []string
	var rows []any
	for _, in := range inputs {
		rows = append(rows, parseQuantityRow(in, &parsed))
	}
	return []section{{"parse", rows}, {"pairs", quantityPairs(r, parsed)}}
}

func quantityInputs(r *rand.Rand) []string {
	inputs := append([]string{}, oddQuantities...)
	for _, number := range quantityNumbers {
		for _, suffix := range quantitySuffixes {
			inputs = append(inputs, number+suffix)
		}
	}
	for range 400 {
		inputs = append(inputs, randomQuantity(r))
	}
	return distinct(inputs)
}

// randomQuantity mostly makes valid texts, with any length of digits and sometimes a wrong letter.
func randomQuantity(r *rand.Rand) string {
	var out strings.Builder
	out.WriteString(pick(r, []string{"", "", "", "", "-", "+"}))
	for range 1 + r.Intn(12) {
		out.WriteByte(byte('0' + r.Intn(10)))
	}
	if r.Intn(3) == 0 {
		out.WriteByte('.')
		for range r.Intn(11) {
			out.WriteByte(byte('0' + r.Intn(10)))
		}
	}
	out.WriteString(pick(r, quantitySuffixes))
	if r.Intn(25) == 0 {
		out.WriteByte("iKxe. "[r.Intn(6)])
	}
	return out.String()
}

func parseQuantityRow(in string, parsed *[]string) row {
	q, err := resource.ParseQuantity(in)
	if err != nil {
		return row{}.with("in", in).with("error", true)
	}
	nano := nanoOf(q)
	*parsed = append(*parsed, in)
	r := row{}.with("in", in).with("text", canonical(q))
	if printed := q.String(); printed != canonical(q) {
		r = r.with("printed", printed)
	}
	r = r.with("format", string(q.Format)).with("value", q.Value()).with("milli", q.MilliValue())
	r = r.with("sign", q.Sign()).with("nano", nano.String())
	var wraps []string
	if !equalCeiling(nano, 1_000_000_000, q.Value()) {
		wraps = append(wraps, "value")
	}
	if !equalCeiling(nano, 1_000_000, q.MilliValue()) {
		wraps = append(wraps, "milli")
	}
	if wraps != nil {
		r = r.with("wraps", wraps)
	}
	return r
}

// canonical ignores the text the parser may have kept.
func canonical(q resource.Quantity) string {
	q = q.DeepCopy()
	number, suffix := q.CanonicalizeBytes(make([]byte, 0, 64))
	return string(number) + string(suffix)
}

// nanoOf gives the exact number of nano-units.
func nanoOf(q resource.Quantity) *big.Int {
	q = q.DeepCopy()
	exact := q.AsDec()
	scaled := new(inf.Dec).Round(exact, 9, inf.RoundExact)
	if scaled == nil {
		panic(fmt.Sprintf("quantity %s is finer than a nano-unit", exact))
	}
	return new(big.Int).Set(scaled.UnscaledBig())
}

// equalCeiling says whether got is nano divided by unit, rounded away from zero as the reference
// does.
func equalCeiling(nano *big.Int, unit int64, got int64) bool {
	quotient, rest := new(big.Int).QuoRem(nano, big.NewInt(unit), new(big.Int))
	if rest.Sign() > 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	if rest.Sign() < 0 {
		quotient.Sub(quotient, big.NewInt(1))
	}
	return quotient.IsInt64() && quotient.Int64() == got
}

func quantityPairs(r *rand.Rand, parsed []string) []any {
	var rows []any
	common := []string{
		"0", "0Gi", "0m", "1", "-1", "500m", "1500m", "1Gi", "1536Mi", "1G", "1e3", "12e6", "100Mi",
		"1n", "0.5", "-2Gi", "7Ei",
	}
	for _, a := range common {
		for _, b := range common {
			rows = append(rows, quantityPair(a, b))
		}
	}
	for range 700 {
		rows = append(rows, quantityPair(pick(r, parsed), pick(r, parsed)))
	}
	return rows
}

func quantityPair(a, b string) row {
	left, right := resource.MustParse(a), resource.MustParse(b)
	sum, diff := left.DeepCopy(), left.DeepCopy()
	sum.Add(right)
	diff.Sub(right)
	return row{}.with("a", a).with("b", b).with("sum", canonical(sum)).
		with("diff", canonical(diff)).
		with("cmp", left.Cmp(right))
}
