package main

import (
	"context"
	"math/rand"
	"regexp"
	"slices"
	"strings"

	"go.uber.org/multierr"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

func validationSections() []section {
	var rows []any
	for _, template := range templatesToValidate() {
		rows = append(rows, validationRow(template))
	}
	r := random("validation")
	for range 80 {
		rows = append(rows, validationRow(randomTemplateToValidate(r)))
	}
	var kwokRows []any
	withKwok(func() {
		for _, template := range kwokTemplates() {
			kwokRows = append(kwokRows, validationRow(template))
		}
	})
	return []section{{"rows", rows}, {"kwok", kwokRows}}
}

func validationRow(template object) row {
	pool := &v1.NodePool{}
	decode(template, &pool.Spec.Template)
	labels, rest := []string{}, []string{}
	for _, err := range multierr.Errors(pool.RuntimeValidate(context.Background())) {
		message := sortPrintedSets(err.Error())
		if strings.Contains(message, "in labels, ") || strings.Contains(message, "for label[") {
			labels = append(labels, message)
		} else {
			rest = append(rest, message)
		}
	}
	slices.Sort(labels)
	return row{}.with("template", template).with("errors", append(labels, rest...))
}

// printedSets finds the two places where the reference prints a set in map order.
var printedSets = regexp.MustCompile(
	`((?:unsupported operator [^\[\]]* not in|valid values from:) \[)([^\]]*)\]`,
)

func sortPrintedSets(message string) string {
	return printedSets.ReplaceAllStringFunc(message, func(found string) string {
		parts := printedSets.FindStringSubmatch(found)
		words := strings.Fields(parts[2])
		slices.Sort(words)
		return parts[1] + strings.Join(words, " ") + "]"
	})
}

// plainTemplate holds only what the rules look at.
func plainTemplate(labels object, spec object) object {
	template := object{"spec": spec}
	if labels != nil {
		template["metadata"] = object{"labels": labels}
	}
	return template
}

func templatesToValidate() []object {
	templates := []object{plainTemplate(nil, object{})}
	for _, key := range []string{
		"team", "example.com/team", "karpenter.sh/nodepool", "karpenter.sh/capacity-type",
		"karpenter.sh/custom", "sub.karpenter.sh/x",
		"karpenter.kwok.sh/instance-cpu", "karpenter.k8s.aws/instance-cpu",
		"kubernetes.io/hostname", "kubernetes.io/arch", "node.kubernetes.io/x",
		"beta.kubernetes.io/arch", "bad key", "-bad", "", "a/b/c", "Example.com/a",
		strings.Repeat("k", 64),
	} {
		templates = append(templates, plainTemplate(object{key: "v"}, object{}))
		templates = append(
			templates,
			plainTemplate(
				nil, object{"requirements": []any{object{"key": key, "operator": "Exists"}}},
			),
		)
	}
	for _, value := range []string{
		"", "ok", "A_b.c-1", "-bad", "bad value", "a/b", strings.Repeat("v", 63),
		strings.Repeat("v", 64),
	} {
		templates = append(templates, plainTemplate(object{"team": value}, object{}))
		templates = append(
			templates,
			plainTemplate(
				nil,
				object{
					"requirements": []any{
						object{"key": "team", "operator": "In", "values": []any{value}},
					},
				},
			),
		)
	}
	templates = append(
		templates,
		plainTemplate(object{"bad key": "bad value", "karpenter.sh/x": "ok", "b": "-"}, object{}),
	)
	templates = append(templates, taintTemplates()...)
	return append(templates, requirementTemplates()...)
}

// kwokTemplates use keys of the provider's own domain, known and unknown.
func kwokTemplates() []object {
	var templates []object
	for _, key := range append([]string{
		kwokDomain + "/custom", "sub." + kwokDomain + "/x", "x" + kwokDomain + "/x",
		"karpenter.sh/custom", "kubernetes.io/hostname", "team",
	}, kwokLabels...) {
		templates = append(templates, plainTemplate(object{key: "v"}, object{}))
		templates = append(
			templates,
			plainTemplate(
				nil,
				object{
					"requirements": []any{
						object{"key": key, "operator": "Gt", "values": []any{"3"}},
					},
				},
			),
		)
	}
	return templates
}

func taintTemplates() []object {
	taint := func(key, value, effect string) object {
		return object{"key": key, "value": value, "effect": effect}
	}
	lists := [][]any{
		{taint("a", "", "NoSchedule")}, {taint("a", "v", "PreferNoSchedule")},
		{taint("a", "v", "NoExecute")}, {taint("a", "v", "")},
		{taint("a", "v", "Sometimes")}, {taint("a", "v", "noschedule")},
		{taint("", "v", "NoSchedule")}, {taint("bad key", "", "NoSchedule")},
		{taint("a/b/c", "", "NoSchedule")}, {taint("example.com/a", "b/c", "NoSchedule")},
		{taint("a", "bad value", "NoSchedule")},
		{taint("a", "-", "NoSchedule")},
		{taint("a", "1", "NoSchedule"), taint("a", "2", "NoSchedule")},
		{taint("a", "1", "NoSchedule"), taint("a", "1", "NoExecute")},
		{taint("a", "", ""), taint("a", "", "")},
		{taint("", "", ""), taint("", "", "")},
		{taint("bad key", "bad value", "Bad"), taint("", "", "NoSchedule")},
		{
			taint("a", "", "NoSchedule"), taint("b", "", "NoSchedule"),
			taint("a", "", "NoSchedule"), taint("a", "", "NoSchedule"),
		},
	}
	var templates []object
	for _, list := range lists {
		templates = append(
			templates, plainTemplate(nil, object{"taints": list}),
			plainTemplate(nil, object{"startupTaints": list}),
		)
	}
	both := []any{taint("a", "1", "NoSchedule")}
	return append(templates, plainTemplate(nil, object{"taints": both, "startupTaints": both}))
}

// requirement is one entry in API form; a least below zero leaves minValues out.
func requirement(key, operator string, least int, values ...string) object {
	entry := object{"key": key, "operator": operator}
	if values != nil {
		entry["values"] = values
	}
	if least >= 0 {
		entry["minValues"] = least
	}
	return entry
}

func requirementTemplates() []object {
	entries := append(operatorEntries(), capacityTypeEntries()...)
	entries = append(
		entries, requirement("beta.kubernetes.io/arch", "In", -1, []string{}...),
		requirement("failure-domain.beta.kubernetes.io/zone", "Bad", -1, "bad value"),
		requirement("karpenter.sh/nodepool", "In", -1, "default"),
		requirement("topology.kubernetes.io/zone", "In", -1, "anything", "goes"),
	)
	var templates []object
	for _, entry := range entries {
		templates = append(templates, plainTemplate(nil, object{"requirements": []any{entry}}))
	}
	return templates
}

// operatorEntries try every operator with every number of values, and every kind of number.
func operatorEntries() []object {
	const key = "example.com/k"
	var entries []object
	for _, operator := range []string{
		"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte", "in", "", "Equals",
	} {
		for _, values := range [][]string{nil, {}, {"a"}, {"5"}, {"1", "2"}} {
			entries = append(entries, requirement(key, operator, -1, values...))
		}
	}
	for _, value := range []string{
		"0", "-1", "+5", "05", "1.5", "9223372036854775807", "9223372036854775808", "", " 5", "a",
	} {
		entries = append(
			entries, requirement(key, "Gt", -1, value), requirement(key, "Lte", -1, value),
		)
	}
	for _, least := range []int{0, 1, 2, 3, 51} {
		entries = append(
			entries, requirement(key, "In", least, "a", "b"),
			requirement(key, "In", least, "a", "a"), requirement(key, "Exists", least),
		)
	}
	return entries
}

// capacityTypeEntries try the one label whose values the reference knows.
func capacityTypeEntries() []object {
	const key = "karpenter.sh/capacity-type"
	var entries []object
	for _, least := range []int{0, 1, 2, 3, 51} {
		entries = append(
			entries, requirement(key, "In", least, "spot", "on-demand"),
			requirement(key, "In", least, "spot", "cheap", "free"),
		)
	}
	for _, values := range [][]string{
		{}, {"spot"}, {"spot", "cheap"}, {"cheap"}, {"cheap", "free"}, {"reserved"}, {"Spot"},
		{"spot", "spot"}, {""},
	} {
		for _, operator := range []string{"In", "NotIn", "Exists"} {
			entries = append(entries, requirement(key, operator, -1, values...))
		}
	}
	return entries
}

func randomTemplateToValidate(r *rand.Rand) object {
	keys := []string{
		"a", "example.com/b", "karpenter.sh/capacity-type", "karpenter.sh/x", "bad key",
		"kubernetes.io/arch", "kubernetes.io/hostname",
	}
	values := []string{"a", "spot", "5", "bad value", "", "on-demand"}
	requirements, taints, startup, labels := []any{}, []any{}, []any{}, object{}
	for range r.Intn(4) {
		list := []any{}
		for range r.Intn(3) {
			list = append(list, pick(r, values))
		}
		requirements = append(requirements, object{
			"key":      pick(r, keys),
			"operator": pick(r, []string{"In", "In", "NotIn", "Exists", "Gt", "Lte"}),
			"values":   list,
		})
	}
	for range r.Intn(3) {
		taints = append(
			taints, object{"key": pick(r, keys[:3]), "effect": string(pick(r, taintEffects))},
		)
		startup = append(
			startup,
			object{
				"key": pick(r, keys[:5]), "effect": string(pick(r, taintEffects)),
				"value": pick(r, values),
			},
		)
	}
	for range r.Intn(3) {
		labels[pick(r, keys)] = pick(r, values)
	}
	return plainTemplate(
		labels, object{"requirements": requirements, "taints": taints, "startupTaints": startup},
	)
}
