package main

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// kwokDomain and kwokLabels are what the kwok provider registers when its package is imported. That
// registration is taken back at the start (instance_types.go), because it would hold for every
// table, and the others are recorded with the core labels only.
const kwokDomain = "karpenter.kwok.sh"

var kwokLabels = []string{
	kwokDomain + "/instance-size", kwokDomain + "/instance-family", kwokDomain + "/instance-cpu",
	kwokDomain + "/instance-memory",
}

var labelPrefixes = []string{
	"", "karpenter.sh/", "sub.karpenter.sh/", "xkarpenter.sh/", "karpenter.sh.example.com/",
	"compatibility.karpenter.sh/",
	"karpenter.k8s.aws/", "karpenter.kwok.sh/", "a.karpenter.kwok.sh/", "kubernetes.io/",
	"node.kubernetes.io/",
	"topology.kubernetes.io/", "beta.kubernetes.io/", "failure-domain.beta.kubernetes.io/",
	"k8s.io/", "example.com/", "Example.com/",
	"KARPENTER.SH/", "karpenter.sh./", ".karpenter.sh/", "/", "a_b.com/", "-a.com/", "a..com/",
}

var labelNames = []string{
	"", "nodepool", "capacity-type", "initialized", "registered", "do-not-sync-taints", "zone",
	"region", "arch", "os", "instance-type",
	"hostname", "windows-build", "instance-size", "instance-cpu", "custom", "A.b_c-9", "-bad",
	"bad-", "a b", "a/b", "ü",
}

func labelSections() []section {
	keys := []string{
		"karpenter.sh", "karpenter.sh/", "//", "a//b", " ", strings.Repeat("a", 63),
		strings.Repeat("a", 64),
		strings.Repeat("a", 253) + "/b", strings.Repeat("a.", 126) + "a/b",
		strings.Repeat("a.", 127) + "a/b", "a/" + strings.Repeat("b", 63),
		"a/" + strings.Repeat("b", 64), "example.com/\n",
		"node.kubernetes.io/exclude-from-external-load-balancers",
		"beta.kubernetes.io/instance-type",
	}
	for _, prefix := range labelPrefixes {
		for _, name := range labelNames {
			keys = append(keys, prefix+name)
		}
	}
	keys = distinct(keys)
	kwok := restrictedWithKwok(keys)
	var keyRows, valueRows []any
	for i, key := range keys {
		keyRows = append(keyRows, labelKeyRow(key, kwok[i]))
	}
	for _, value := range []string{
		"", "a", "A", "0", "a-b", "a_b", "a.b", "-a", "a-", "_a", ".a", "a.", " ", "a b", "a/b",
		"a:b", "a=b", "ü", "a\n", "true", "5", "-5", "1.5",
		"m5.large", "us-east-1a", strings.Repeat("v", 63), strings.Repeat("v", 64),
		strings.Repeat("-", 70), "a--b", "a..b", "a__b", "é", "a\u0000",
	} {
		valueRows = append(
			valueRows,
			row{}.with("value", value).with("errors", listed(validation.IsValidLabelValue(value))),
		)
	}
	return []section{{"keys", keyRows}, {"values", valueRows}}
}

func labelKeyRow(key string, restrictedKwok bool) row {
	normalised := key
	if other, ok := v1.NormalizedLabels[key]; ok {
		normalised = other
	}
	return row{}.with("key", key).with("restricted", v1.IsRestrictedLabel(key) != nil).
		with("restrictedKwok", restrictedKwok).
		with("wellKnown", v1.WellKnownLabels.Has(key)).with("normalised", normalised).
		with("domain", v1.GetLabelDomain(key)).
		with("errors", listed(validation.IsQualifiedName(key)))
}

// restrictedWithKwok answers for each key with the provider registered.
func restrictedWithKwok(keys []string) []bool {
	var answers []bool
	withKwok(func() {
		for _, key := range keys {
			answers = append(answers, v1.IsRestrictedLabel(key) != nil)
		}
	})
	return answers
}

// withKwok registers the provider's labels, asks, and takes the registration back.
func withKwok(ask func()) {
	labels, domains := v1.WellKnownLabels, v1.RestrictedLabelDomains
	defer func() { v1.WellKnownLabels, v1.RestrictedLabelDomains = labels, domains }()
	v1.WellKnownLabels = labels.Union(sets.New(kwokLabels...))
	v1.RestrictedLabelDomains = domains.Union(sets.New(kwokDomain))
	ask()
}

// listed writes no errors as an empty list.
func listed(messages []string) []string {
	if messages == nil {
		return []string{}
	}
	return messages
}
