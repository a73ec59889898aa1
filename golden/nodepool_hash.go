package main

import (
	"math/rand"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

type object = map[string]any

func nodePoolHashSections() []section {
	rows := specifiedHashes()
	for _, template := range systematicTemplates() {
		rows = append(rows, hashRow("", template))
	}
	r := random("nodepool_hash")
	for range 110 {
		rows = append(rows, hashRow("", randomTemplate(r)))
	}
	return []section{{"rows", rows}}
}

func hashRow(note string, template object) row {
	pool := &v1.NodePool{}
	decode(template, &pool.Spec.Template)
	r := row{}
	if note != "" {
		r = r.with("note", note)
	}
	return r.with("template", template).with("hash", pool.Hash())
}

func classRef(kind, name, group string) object {
	return object{"kind": kind, "name": name, "group": group}
}

// templateOf builds a template with the kwok class and a month of life, changed by the given
// members of its spec.
func templateOf(metadata object, spec object) object {
	whole := object{
		"requirements": []any{},
		"nodeClassRef": classRef("KWOKNodeClass", "default", "karpenter.kwok.sh"),
		"expireAfter":  "720h",
	}
	for name, value := range spec {
		if value == nil {
			delete(whole, name)
			continue
		}
		whole[name] = value
	}
	template := object{"spec": whole}
	if metadata != nil {
		template["metadata"] = metadata
	}
	return template
}

// taintOf leaves an empty value out.
func taintOf(key, value, effect string) object {
	taint := object{"key": key, "effect": effect}
	if value != "" {
		taint["value"] = value
	}
	return taint
}

// specifiedHashes are the vectors of Kerf's own description of the hash; recording stops when one
// differs.
func specifiedHashes() []any {
	vectors := []struct {
		note, want string
		template   object
	}{
		{"never expires", "7428780003907761376", templateOf(nil, object{"expireAfter": "Never"})},
		{"720h", "12745407319442031341", templateOf(nil, nil)},
		{
			"EC2NodeClass", "6821555240594823858",
			templateOf(
				nil,
				object{"nodeClassRef": classRef("EC2NodeClass", "default", "karpenter.k8s.aws")},
			),
		},
		{
			"one label", "10172464548043488983",
			templateOf(object{"labels": object{"team": "a"}}, nil),
		},
		{"empty labels", "5327702334917744615", templateOf(object{"labels": object{}}, nil)},
		{"empty taints", "845502862369909111", templateOf(nil, object{"taints": []any{}})},
		{
			"grace period 0s", "16848824146983765585",
			templateOf(nil, object{"terminationGracePeriod": "0s"}),
		},
		{
			"two taints", "18445414455740185427",
			templateOf(
				nil,
				object{"taints": []any{
					taintOf("a", "1", "NoSchedule"), taintOf("b", "", "NoExecute"),
				}},
			),
		},
		{"everything", "10188347701192299315", templateOf(
			object{
				"labels": object{"keyLabel": "valueLabel", "keyLabel2": "valueLabel2"},
				"annotations": object{
					"keyAnnotation": "valueAnnotation", "keyAnnotation2": "valueAnnotation2",
				},
			},
			object{
				"taints":                 []any{taintOf("keyvalue1", "", "NoExecute")},
				"startupTaints":          []any{taintOf("startupkeyvalue1", "", "NoExecute")},
				"nodeClassRef":           classRef("TestNodeClass", "default", "karpenter.test.sh"),
				"terminationGracePeriod": "5m", "expireAfter": "5m",
			})},
	}
	var rows []any
	for _, v := range vectors {
		pool := &v1.NodePool{}
		decode(v.template, &pool.Spec.Template)
		if got := pool.Hash(); got != v.want {
			panic("hash of " + v.note + ": the reference gives " + got + " and not " + v.want)
		}
		rows = append(rows, hashRow(v.note, v.template))
	}
	return rows
}

func systematicTemplates() []object {
	var templates []object
	for _, expiry := range []any{
		nil, "Never", "0s", "1ns", "1s", "60m", "1h", "1h0m0s", "720h", "-1h", "2562047h",
	} {
		for _, grace := range []any{nil, "0s", "1s", "1h", "60m"} {
			templates = append(
				templates,
				templateOf(nil, object{"expireAfter": expiry, "terminationGracePeriod": grace}),
			)
		}
	}
	a, b := object{"key": "a", "effect": "NoSchedule"}, object{
		"key": "b", "value": "x", "effect": "NoExecute",
	}
	empty, dated := object{"key": "", "effect": ""}, object{
		"key": "a", "effect": "NoSchedule", "timeAdded": "2024-02-29T12:00:00Z",
	}
	lists := [][]any{
		{}, {a}, {b}, {a, b}, {b, a}, {a, a}, {a, a, a}, {a, a, b}, {empty}, {empty, empty},
		{dated}, {dated, a},
	}
	for _, list := range lists {
		templates = append(
			templates, templateOf(nil, object{"taints": list}),
			templateOf(nil, object{"startupTaints": list}),
			templateOf(nil, object{"taints": list, "startupTaints": list}),
		)
	}
	for _, metadata := range []object{
		{}, {"labels": nil}, {"annotations": object{}},
		{"labels": object{}, "annotations": object{}}, {"labels": object{"a": ""}},
		{"labels": object{"": ""}}, {"annotations": object{"a": "b"}}, {"labels": object{"a": "b"}},
		{"labels": object{"b": "a"}},
		{"labels": object{"a": "b", "c": "d"}}, {"labels": object{"a": "d", "c": "b"}},
		{"labels": object{"a": "ü", "ключ": "值"}},
	} {
		templates = append(
			templates, templateOf(metadata, nil),
			templateOf(metadata, object{"expireAfter": nil, "nodeClassRef": nil}),
		)
	}
	for _, ref := range []any{
		nil, object{}, classRef("", "", ""), classRef("K", "", ""), classRef("", "n", ""),
		classRef("", "", "g"), classRef("n", "K", "g"),
	} {
		templates = append(templates, templateOf(nil, object{"nodeClassRef": ref}))
	}
	needs := []any{object{"key": "k", "operator": "In", "values": []any{"v"}}}
	return append(
		templates, templateOf(nil, object{"requirements": needs}),
		templateOf(nil, object{"requirements": nil}),
	)
}

func randomTemplate(r *rand.Rand) object {
	words := []string{
		"a", "b", "team", "example.com/x", "karpenter.sh/y", "v1", "0", "",
		"long-" + "value.with_all",
	}
	pairs := func() object {
		m := object{}
		for range r.Intn(5) {
			m[pick(r, words)] = pick(r, words)
		}
		return m
	}
	taints := func() []any {
		list := []any{}
		for range r.Intn(4) {
			taint := object{"key": pick(r, words), "effect": string(pick(r, taintEffects))}
			if r.Intn(2) == 0 {
				taint["value"] = pick(r, words)
			}
			list = append(list, taint)
		}
		return list
	}
	metadata, spec := object{}, object{}
	if r.Intn(2) == 0 {
		metadata["labels"] = pairs()
	}
	if r.Intn(2) == 0 {
		metadata["annotations"] = pairs()
	}
	if r.Intn(2) == 0 {
		spec["taints"] = taints()
	}
	if r.Intn(2) == 0 {
		spec["startupTaints"] = taints()
	}
	spec["nodeClassRef"] = classRef(pick(r, words), pick(r, words), pick(r, words))
	spec["expireAfter"] = pick(r, []any{nil, "Never", "0s", "24h", "720h", "1h30m", "90m"})
	spec["terminationGracePeriod"] = pick(r, []any{nil, nil, "0s", "30s", "48h"})
	return templateOf(metadata, spec)
}
