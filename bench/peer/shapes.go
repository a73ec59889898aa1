package main

import (
	"math"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// twoShapes is the smallest problem on which a greedy packing pays visibly too much.
func twoShapes(_ *rand.Rand, pods int) *problem {
	built := linuxOnDemand()
	var all pile
	for i := range pods {
		if i%2 == 0 {
			all.add("small", newPod(nil, 900, 3100))
		} else {
			all.add("large", newPod(nil, 3500, 28*mebibytesPerGibibyte))
		}
	}
	all.into(built)
	return built
}

func tiny(random *rand.Rand, pods int) *problem {
	built := linuxOnDemand()
	var all pile
	for range pods {
		cpuMillis := lognormal(random, 60, 0.6, 5, 5, 1000)
		memoryMebibytes := lognormal(random, 150, 0.6, 10, 10, 4096)
		all.add("tiny", newPod(nil, cpuMillis, memoryMebibytes))
	}
	all.into(built)
	return built
}

func memoryHeavy(random *rand.Rand, pods int) *problem {
	built := linuxOnDemand()
	var all pile
	for range pods {
		cpuMillis := lognormal(random, 550, 0.6, 50, 50, 8000)
		mebibytesPerCPU := 6*mebibytesPerGibibyte + random.IntN(5*mebibytesPerGibibyte+1)
		all.add("memory", newPod(nil, cpuMillis, cpuMillis*mebibytesPerCPU/1000))
	}
	all.into(built)
	return built
}

func bigPods(random *rand.Rand, pods int) *problem {
	built := linuxOnDemand()
	var all pile
	for range pods {
		cpuMillis := lognormal(random, 6000, 0.8, 250, 250, 128000)
		memoryMebibytes := lognormal(random, 20*mebibytesPerGibibyte, 0.8, 256, 256, 512*mebibytesPerGibibyte)
		all.add("big", newPod(nil, cpuMillis, memoryMebibytes))
	}
	all.into(built)
	return built
}

// zones pins each pod to one of four zones, used unevenly, and one of two architectures.
func zones(random *rand.Rand, pods int) *problem {
	built := linuxOnDemand()
	var all pile
	for range pods {
		cpuMillis := lognormal(random, 400, 0.7, 50, 50, 16000)
		memoryMebibytes := lognormal(random, 1200, 0.8, 64, 64, 64*mebibytesPerGibibyte)
		pod := newPod(nil, cpuMillis, memoryMebibytes)
		architecture := oneOf(random, []string{
			karpv1.ArchitectureAmd64, karpv1.ArchitectureAmd64, karpv1.ArchitectureArm64,
		})
		pod.Spec.NodeSelector = map[string]string{
			corev1.LabelTopologyZone: unevenZone(random),
			corev1.LabelArchStable:   architecture,
		}
		all.add("pinned", pod)
	}
	all.into(built)
	return built
}

// manySmall has requests so small that the number of pods a machine may hold runs out first. Spot is allowed.
func manySmall(random *rand.Rand, pods int) *problem {
	built := &problem{
		InstanceTypes: kwokTypes(),
		NodePools:     []*karpv1.NodePool{newPool("default", linux)},
	}
	shapes := []struct{ cpuMillis, memoryMebibytes int }{
		{10, 32}, {20, 64}, {50, 64}, {50, 128}, {100, 256}, {200, 512},
	}
	var all pile
	for range pods {
		shape := oneOf(random, shapes)
		all.add("small", newPod(nil, shape.cpuMillis, shape.memoryMebibytes))
	}
	all.into(built)
	return built
}

func fewHuge(random *rand.Rand, pods int) *problem {
	built := linuxOnDemand()
	var all pile
	for range pods {
		cpus := 24 + random.IntN(157)
		gibibytesPerCPU := 2 + random.IntN(7)
		all.add("huge", newPod(nil, cpus*1000, cpus*gibibytesPerCPU*mebibytesPerGibibyte))
	}
	all.into(built)
	return built
}

// unevenZone draws a zone: 60, 25, 10 and 5 in a hundred.
func unevenZone(random *rand.Rand) string {
	switch drawn := random.IntN(100); {
	case drawn < 60:
		return kwokZones[0]
	case drawn < 85:
		return kwokZones[1]
	case drawn < 95:
		return kwokZones[2]
	default:
		return kwokZones[3]
	}
}

// lognormal draws around a median, rounds to whole steps and keeps within bounds.
func lognormal(random *rand.Rand, median, sigma float64, step, least, most int) int {
	drawn := median * math.Exp(sigma*random.NormFloat64())
	rounded := int(math.Round(drawn/float64(step))) * step
	return min(max(rounded, least), most)
}
