package main

import (
	"math/rand"

	"go.uber.org/multierr"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

var taintEffects = []corev1.TaintEffect{
	corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute,
}

func taintSections() []section {
	taints, tolerations := taintSamples(), tolerationSamples()
	var taintRows, tolerationRows, matrix []any
	for i := range taints {
		taintRows = append(taintRows, taints[i])
		matrix = append(matrix, bits(len(tolerations), func(j int) bool {
			return scheduling.Taints{taints[i]}.Tolerates(
				[]corev1.Toleration{tolerations[j]},
			) == nil
		}))
	}
	for _, toleration := range tolerations {
		tolerationRows = append(tolerationRows, toleration)
	}
	ephemeral := bits(
		len(taints), func(i int) bool { return scheduling.IsKnownEphemeralTaint(&taints[i]) },
	)
	return []section{
		{"taints", taintRows}, {"tolerations", tolerationRows}, {"matrix", matrix},
		{"ephemeral", []any{ephemeral}},
		{"lists", taintLists(random("taints"), taints, tolerations)},
	}
}

func taintSamples() []corev1.Taint {
	var taints []corev1.Taint
	for _, effect := range taintEffects {
		for _, value := range []string{"", "v", "w", "5", "10"} {
			taints = append(taints, corev1.Taint{Key: "k", Value: value, Effect: effect})
		}
		taints = append(taints, corev1.Taint{Key: "example.com/other", Value: "v", Effect: effect})
	}
	for _, value := range []string{
		"0", "-5", "05", "+5", "-0", "00", "5.0", " 5", "9223372036854775807",
		"9223372036854775808", "-9223372036854775808", "true",
	} {
		taints = append(
			taints, corev1.Taint{Key: "k", Value: value, Effect: corev1.TaintEffectNoSchedule},
		)
	}
	for _, key := range []string{
		corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable,
		"node.cloudprovider.kubernetes.io/uninitialized",
		"karpenter.sh/unregistered", "karpenter.sh/disrupted", "readiness.k8s.io/cni",
		"readiness.k8s.io/", "readiness.k8s.io",
		"node.kubernetes.io/disk-pressure", "", "K",
	} {
		for _, effect := range taintEffects {
			taints = append(taints, corev1.Taint{Key: key, Effect: effect})
		}
	}
	return append(taints,
		corev1.Taint{
			Key: "node.cloudprovider.kubernetes.io/uninitialized", Value: "true",
			Effect: corev1.TaintEffectNoSchedule,
		},
		corev1.Taint{
			Key: "karpenter.sh/unregistered", Value: "x", Effect: corev1.TaintEffectNoExecute,
		},
		corev1.Taint{Key: "k", Value: "v"},
	)
}

func tolerationSamples() []corev1.Toleration {
	var tolerations []corev1.Toleration
	effects := append([]corev1.TaintEffect{""}, taintEffects...)
	for _, effect := range effects {
		for _, operator := range []corev1.TolerationOperator{
			"", corev1.TolerationOpEqual, corev1.TolerationOpExists,
		} {
			for _, key := range []string{
				"", "k", "example.com/other", corev1.TaintNodeNotReady, "karpenter.sh/disrupted",
			} {
				for _, value := range []string{"", "v"} {
					tolerations = append(
						tolerations,
						corev1.Toleration{
							Key: key, Operator: operator, Value: value, Effect: effect,
						},
					)
				}
			}
		}
	}
	for _, operator := range []corev1.TolerationOperator{"Gt", "Lt"} {
		for _, value := range []string{
			"", "0", "4", "5", "6", "10", "-6", "05", "+5", "-0", "00", "5.0", "v",
			"9223372036854775807", "9223372036854775808",
			"-9223372036854775808",
		} {
			tolerations = append(
				tolerations, corev1.Toleration{Key: "k", Operator: operator, Value: value},
			)
		}
		tolerations = append(tolerations,
			corev1.Toleration{Operator: operator, Value: "4"},
			corev1.Toleration{
				Key: "k", Operator: operator, Value: "4", Effect: corev1.TaintEffectNoExecute,
			})
	}
	seconds := int64(30)
	return append(tolerations,
		corev1.Toleration{Key: "k", Operator: "exists"},
		corev1.Toleration{Key: "k", Operator: "NotIn", Value: "v"},
		corev1.Toleration{
			Key: "k", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute,
			TolerationSeconds: &seconds,
		},
		corev1.Toleration{Operator: corev1.TolerationOpExists, TolerationSeconds: &seconds},
	)
}

func taintLists(r *rand.Rand, taints []corev1.Taint, tolerations []corev1.Toleration) []any {
	var rows []any
	for range 150 {
		nodeSide, podSide := []corev1.Taint{}, []corev1.Toleration{}
		for range r.Intn(4) {
			nodeSide = append(nodeSide, pick(r, taints))
		}
		for range r.Intn(6) {
			podSide = append(podSide, pick(r, tolerations))
		}
		messages := []string{}
		for _, err := range multierr.Errors(scheduling.Taints(nodeSide).Tolerates(podSide)) {
			messages = append(messages, err.Error())
		}
		rows = append(
			rows,
			row{}.with("taints", nodeSide).with("tolerations", podSide).with("errors", messages),
		)
	}
	return rows
}
