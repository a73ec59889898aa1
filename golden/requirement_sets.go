package main

import (
	"math/rand"
	"slices"
	"strings"

	"go.uber.org/multierr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// attempts is how often a call whose answer depends on map order is repeated to see every answer.
// The small maps here start at each of their keys about equally often, so missing one of eight in
// 400 tries has a chance of (7/8)^400, below one in 10^23.
const attempts = 400

var setKeys = []string{
	"topology.kubernetes.io/zone", "kubernetes.io/arch", "karpenter.sh/capacity-type",
	"node.kubernetes.io/instance-type",
	"kubernetes.io/hostname", "example.com/team", "example.com/cpu", "team", "zone",
	"failure-domain.beta.kubernetes.io/zone",
	"beta.kubernetes.io/arch",
}

var setOperators = []corev1.NodeSelectorOperator{
	corev1.NodeSelectorOpIn, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpIn,
	corev1.NodeSelectorOpNotIn,
	corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt,
	corev1.NodeSelectorOpLt,
	v1.NodeSelectorOpGte, v1.NodeSelectorOpLte,
}

type requirementForm = v1.NodeSelectorRequirementWithMinValues

func requirementSetSections() []section {
	var known []any
	for _, label := range sets.List(v1.WellKnownLabels) {
		known = append(known, label)
	}
	var rows []any
	for _, key := range []string{"topology.kubernetes.io/zone", "example.com/team"} {
		for _, a := range setSingles(key) {
			for _, b := range setSingles(key) {
				rows = append(rows, requirementSetRow(a, b))
			}
		}
	}
	r := random("requirement_sets")
	for range 500 {
		rows = append(rows, requirementSetRow(randomForms(r), randomForms(r)))
	}
	return []section{{"wellKnown", known}, {"rows", rows}}
}

// setSingles are sets of none or one requirement on one key.
func setSingles(key string) [][]requirementForm {
	form := func(operator corev1.NodeSelectorOperator, values ...string) []requirementForm {
		return []requirementForm{{Key: key, Operator: operator, Values: values}}
	}
	return [][]requirementForm{
		{}, form(corev1.NodeSelectorOpIn, "a"), form(corev1.NodeSelectorOpIn, "3"),
		form(corev1.NodeSelectorOpNotIn, "a"),
		form(corev1.NodeSelectorOpExists), form(corev1.NodeSelectorOpDoesNotExist),
		form(corev1.NodeSelectorOpGt, "2"),
		form(v1.NodeSelectorOpLte, "2"),
	}
}

func randomForms(r *rand.Rand) []requirementForm {
	forms := []requirementForm{}
	for range r.Intn(5) {
		form := requirementForm{Key: pick(r, setKeys), Operator: pick(r, setOperators)}
		switch form.Operator {
		case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
			for range 1 + r.Intn(3) {
				form.Values = append(form.Values, pick(r, []string{"a", "b", "c", "1", "2", "3"}))
			}
		case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		default:
			form.Values = []string{pick(r, []string{"0", "1", "2", "3"})}
		}
		if r.Intn(5) == 0 {
			form.MinValues = minValues(1 + r.Intn(3))
		}
		forms = append(forms, form)
	}
	return forms
}

func requirementSetRow(a, b []requirementForm) row {
	left, right := requirementSet(a), requirementSet(b)
	return row{}.with("a", a).with("b", b).
		with("strict", outcome(func() error { return left.Compatible(right) })).
		with(
			"lenient",
			outcome(
				func() error {
					return left.Compatible(right, scheduling.AllowUndefinedWellKnownLabels)
				},
			),
		).
		with("intersects", outcome(func() error { return left.Intersects(right) })).
		with("text", left.String())
}

func requirementSet(forms []requirementForm) scheduling.Requirements {
	set := scheduling.NewRequirements()
	for _, form := range forms {
		set.Add(requirementOf(form))
	}
	return set
}

// outcome collects every message the call can give.
func outcome(call func() error) any {
	messages := sets.New[string]()
	member := "allOf"
	for range attempts {
		err := call()
		if err == nil {
			return "ok"
		}
		for _, one := range multierr.Errors(err) {
			// The check for undefined labels stops at the first one it meets.
			if strings.HasPrefix(one.Error(), "label ") {
				member = "anyOf"
			}
			messages.Insert(one.Error())
		}
	}
	list := sets.List(messages)
	slices.Sort(list)
	return row{}.with(member, list)
}
