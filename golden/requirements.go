package main

import (
	"fmt"
	"math"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// requirementProbes are label values of every kind: integers, near-integers, words, nothing.
var requirementProbes = []string{
	"", "a", "b", "c", "0", "1", "2", "5", "9", "10", "-1", "+5", "05", "1.5",
	"9223372036854775807", "9223372036854775808",
}

func minValues(n int) *int { return &n }

// requirementForms are the API forms whose pairs are recorded.
func requirementForms() []v1.NodeSelectorRequirementWithMinValues {
	form := func(
		operator corev1.NodeSelectorOperator, least *int, values ...string,
	) v1.NodeSelectorRequirementWithMinValues {
		if values == nil {
			values = []string{}
		}
		return v1.NodeSelectorRequirementWithMinValues{
			Key: "k", Operator: operator, Values: values, MinValues: least,
		}
	}
	in, notIn := corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn
	gt, lt := corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt
	gte, lte := v1.NodeSelectorOpGte, v1.NodeSelectorOpLte
	greatest := fmt.Sprint(math.MaxInt64)
	return []v1.NodeSelectorRequirementWithMinValues{
		form(in, nil), form(in, nil, "a"), form(in, nil, "a", "b"), form(in, nil, "b", "c", "b"),
		form(in, nil, "1"),
		form(in, nil, "1", "5", "9"), form(in, nil, "a", "5", "05", "+5"),
		form(in, nil, "0", "-1", "10"), form(in, nil, ""),
		form(in, minValues(2), "a", "b", "c"), form(in, nil, greatest, "9223372036854775808"),
		form(in, nil, "1", "2", "3", "4", "5", "6", "7"),
		form(notIn, nil), form(notIn, nil, "a"), form(notIn, nil, "a", "b"), form(notIn, nil, "5"),
		form(notIn, nil, "1", "5", "a"),
		form(notIn, minValues(3), "b", "9"), form(notIn, nil, "f", "e", "d", "c", "b", "a", "5"),
		form(notIn, nil, ""),
		form(corev1.NodeSelectorOpExists, nil), form(corev1.NodeSelectorOpExists, minValues(1)),
		form(corev1.NodeSelectorOpExists, nil, "a"),
		form(corev1.NodeSelectorOpDoesNotExist, nil),
		form(corev1.NodeSelectorOpDoesNotExist, minValues(4), "a"),
		form(gt, nil, "0"), form(gt, nil, "4"), form(gt, nil, "9"), form(gt, nil, greatest),
		form(gt, minValues(2), "-2"),
		form(lt, nil, "0"), form(lt, nil, "1"), form(lt, nil, "6"), form(lt, minValues(5), "10"),
		form(lt, nil, greatest),
		form(gte, nil, "5"), form(gte, nil, "1"), form(gte, nil, "x"), form(gte, nil, greatest),
		form(lte, nil, "5"), form(lte, nil, "0"), form(lte, nil, "9223372036854775808"),
		form(lt, nil, "-9223372036854775808"),
	}
}

func requirementSections() []section {
	forms := requirementForms()
	var probes, singles, pairs []any
	for _, probe := range requirementProbes {
		probes = append(probes, probe)
	}
	for id, form := range forms {
		r := row{}.with("id", id).with("operator", string(form.Operator)).
			with("values", form.Values)
		if form.MinValues != nil {
			r = r.with("minValues", *form.MinValues)
		}
		singles = append(singles, r.with("is", requirementShape(requirementOf(form))))
	}
	for a := range forms {
		for b := range forms {
			left, right := requirementOf(forms[a]), requirementOf(forms[b])
			hit := left.HasIntersection(right)
			shape := requirementShape(left.Intersection(right))
			pairs = append(
				pairs, row{}.with("a", a).with("b", b).with("hit", hit).with("is", shape),
			)
		}
	}
	return []section{{"probes", probes}, {"requirements", singles}, {"pairs", pairs}}
}

func requirementOf(form v1.NodeSelectorRequirementWithMinValues) *scheduling.Requirement {
	values := append([]string{}, form.Values...)
	return scheduling.NewRequirementWithFlexibility(
		form.Key, form.Operator, form.MinValues, values...,
	)
}

func requirementShape(r *scheduling.Requirement) row {
	inside := reflect.ValueOf(r).Elem()
	gte, lte := inside.FieldByName("gte"), inside.FieldByName("lte")
	shape := row{}.with("complement", inside.FieldByName("complement").Bool())
	shape = shape.with("values", sets.List(sets.New(r.Values()...)))
	if !gte.IsNil() {
		shape = shape.with("gte", gte.Elem().Int())
	}
	if !lte.IsNil() {
		shape = shape.with("lte", lte.Elem().Int())
	}
	if r.MinValues != nil {
		shape = shape.with("minValues", *r.MinValues)
	}
	shape = shape.with("operator", string(r.Operator())).with("text", r.String())
	shape = shape.with("api", requirementAPI(r))
	return shape.with(
		"has",
		bits(len(requirementProbes), func(i int) bool { return r.Has(requirementProbes[i]) }),
	)
}

// requirementAPI is the serialised form without key and minValues, which are copied unchanged.
func requirementAPI(r *scheduling.Requirement) []any {
	entries := []any{}
	for _, entry := range scheduling.NewRequirements(r).NodeSelectorRequirements() {
		values := entry.Values
		if values == nil {
			values = []string{}
		}
		entries = append(entries, []any{string(entry.Operator), values})
	}
	return entries
}
