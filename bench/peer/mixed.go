package main

import (
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// The figures of the peer's own benchmark.
var (
	benchmarkCPUMillis       = []int{100, 250, 500, 1000, 1500}
	benchmarkMemoryMebibytes = []int{100, 256, 512, 1024, 2048, 4096}
	benchmarkLabelValues     = []string{"a", "b", "c", "d", "e", "f", "g"}
)

// mixed is the mix of the peer's own benchmark. What does not divide by five is plain.
func mixed(random *rand.Rand, pods int) *problem {
	built := &problem{InstanceTypes: fakeTypes(), NodePools: []*karpv1.NodePool{roomyPool()}}
	var all pile
	fifth := pods / 5
	for range fifth + pods%5 {
		all.add("plain", benchmarkPod(random, benchmarkLabel(random)))
	}
	for range fifth {
		all.add("zone-spread", benchmarkSpread(random, corev1.LabelTopologyZone))
	}
	for range fifth {
		all.add("host-spread", benchmarkSpread(random, corev1.LabelHostname))
	}
	for range fifth {
		labels := map[string]string{"my-affinity": oneOf(random, benchmarkLabelValues)}
		pod := benchmarkPod(random, labels)
		pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
				podTerm(corev1.LabelTopologyZone, labels),
			},
		}}
		all.add("zone-affinity", pod)
	}
	for range fifth {
		labels := map[string]string{"app": "nginx"}
		pod := benchmarkPod(random, labels)
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
				podTerm(corev1.LabelHostname, labels),
			},
		}}
		all.add("host-apart", pod)
	}
	all.into(built)
	return built
}

// preferences is the peer's own benchmark of preferences: equal pods, each with three of them.
func preferences(random *rand.Rand, pods int) *problem {
	built := &problem{InstanceTypes: fakeTypes(), NodePools: []*karpv1.NodePool{roomyPool()}}
	labels := map[string]string{"app": "nginx"}
	pod := benchmarkPod(random, labels)
	pod.Spec.Affinity = &corev1.Affinity{
		NodeAffinity: &corev1.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
				{Weight: 1, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
					{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"test-zone-1"}},
				}}},
			},
		},
		PodAntiAffinity: &corev1.PodAntiAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
				{Weight: 10, PodAffinityTerm: podTerm(corev1.LabelTopologyZone, labels)},
				{Weight: 1, PodAffinityTerm: podTerm(corev1.LabelHostname, labels)},
			},
		},
	}
	var all pile
	for range pods {
		all.add("prefers", pod)
	}
	all.into(built)
	return built
}

func benchmarkPod(random *rand.Rand, labels map[string]string) *corev1.Pod {
	return newPod(labels, oneOf(random, benchmarkCPUMillis), oneOf(random, benchmarkMemoryMebibytes))
}

// benchmarkSpread spreads over the pods of some label value, mostly not its own, as the peer's benchmark does.
func benchmarkSpread(random *rand.Rand, key string) *corev1.Pod {
	pod := benchmarkPod(random, benchmarkLabel(random))
	return withSpread(pod, key, 1, benchmarkLabel(random))
}

func benchmarkLabel(random *rand.Rand) map[string]string {
	return map[string]string{"my-label": oneOf(random, benchmarkLabelValues)}
}

func oneOf[T any](random *rand.Rand, from []T) T {
	return from[random.IntN(len(from))]
}
