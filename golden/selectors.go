package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

var selectorLabels = []map[string]string{
	{}, {"app": "web"}, {"app": "db"}, {"app": "web", "tier": "front"},
	{"app": "web", "tier": "back"}, {"tier": "front"},
	{"app": ""}, {"app": "web", "tier": ""}, {"example.com/app": "web"},
	{"app": "web", "env": "prod", "tier": "front"},
	{"app": "Web"}, {"size": "5"}, {"size": "10"}, {"app": "web", "size": "5"},
}

func selectorSections() []section {
	var known, rows []any
	for _, set := range selectorLabels {
		known = append(known, set)
	}
	rows = append(rows, selectorRow(nil))
	for _, document := range selectorDocuments() {
		rows = append(rows, selectorRow(document))
	}
	return []section{{"labels", known}, {"selectors", rows}}
}

func selectorRow(document map[string]any) row {
	var selector *metav1.LabelSelector
	r := row{}
	if document == nil {
		r = r.with("in", nil)
	} else {
		r = r.with("in", document)
		selector = &metav1.LabelSelector{}
		decode(document, selector)
	}
	compiled, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return r.with("error", true)
	}
	return r.with("matches", bits(len(selectorLabels), func(i int) bool {
		return compiled.Matches(labels.Set(selectorLabels[i]))
	}))
}

// selectorDocuments has every single expression, some bad ones, and random combinations.
func selectorDocuments() []map[string]any {
	documents := []map[string]any{
		{}, {"matchLabels": map[string]any{}}, {"matchExpressions": []any{}},
		{"matchLabels": map[string]any{"app": "web"}}, {"matchLabels": map[string]any{"app": ""}},
		{"matchLabels": map[string]any{"app": "web", "tier": "front"}},
		{"matchLabels": map[string]any{"missing": ""}},
		{"matchLabels": map[string]any{"bad key": "x"}}, {"matchLabels": map[string]any{"": "x"}},
		{"matchLabels": map[string]any{"app": "bad value"}},
		{"matchLabels": map[string]any{"app": "-web"}},
		{"matchLabels": map[string]any{"a/b/c": "x"}},
		{"matchLabels": map[string]any{"Example.com/app": "x"}},
	}
	var expressions []any
	for _, operator := range []string{
		"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Equals", "in", "exists", "",
	} {
		for _, key := range []string{"app", "tier", "missing", "example.com/app", "bad key", ""} {
			for _, values := range [][]string{
				nil, {}, {"web"}, {"web", "db"}, {""}, {"5"}, {"bad value"}, {"web", "web"},
			} {
				expression := map[string]any{"key": key, "operator": operator}
				if values != nil {
					expression["values"] = values
				}
				documents = append(documents, map[string]any{"matchExpressions": []any{expression}})
				if operator != "" && key != "" && key != "bad key" {
					expressions = append(expressions, expression)
				}
			}
		}
	}
	r := random("selectors")
	for range 200 {
		chosen := []any{}
		for range 1 + r.Intn(3) {
			chosen = append(chosen, pick(r, expressions[:96]))
		}
		document := map[string]any{"matchExpressions": chosen}
		if r.Intn(3) == 0 {
			document["matchLabels"] = map[string]any{
				pick(r, []string{"app", "tier", "env"}): pick(r, []string{"web", "front", "prod"}),
			}
		}
		documents = append(documents, document)
	}
	return documents
}
