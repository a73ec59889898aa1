package main

import (
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// acceleratedTaint keeps plain pods off machines with devices.
var acceleratedTaint = corev1.Taint{Key: "accelerated", Value: "true", Effect: corev1.TaintEffectNoSchedule}

// gpu mixes pods with devices, which tolerate the tainted pool, with plain ones, which must not land there.
func gpu(random *rand.Rand, pods int) *problem {
	devices := newPool("accelerated", linux, in(v1alpha1.InstanceFamilyLabelKey, acceleratedFamilies...))
	devices.Spec.Template.Spec.Taints = []corev1.Taint{acceleratedTaint}
	weight := int32(10)
	devices.Spec.Weight = &weight
	plain := newPool("plain", linux, amd64, notIn(v1alpha1.InstanceFamilyLabelKey, acceleratedFamilies...))
	built := &problem{
		InstanceTypes: append(kwokTypes(), acceleratedTypes()...),
		NodePools:     []*karpv1.NodePool{devices, plain},
	}
	var all pile
	for range pods {
		switch drawn := random.IntN(100); {
		case drawn < 35:
			all.add("gpu-one", onDevices(newPod(nil, 2000+500*random.IntN(8), 8192+1024*random.IntN(12)), nvidiaGPU, 1))
		case drawn < 43:
			all.add("gpu-four", onDevices(newPod(nil, 16000, 96*mebibytesPerGibibyte), nvidiaGPU, 4))
		case drawn < 46:
			all.add("gpu-eight", onDevices(newPod(nil, 64000, 400*mebibytesPerGibibyte), nvidiaGPU, 8))
		case drawn < 58:
			all.add("neuron", onDevices(newPod(nil, 3000, 8*mebibytesPerGibibyte), neuron, int64(1+random.IntN(3))))
		default:
			cpuMillis := lognormal(random, 500, 0.7, 100, 100, 16000)
			all.add("plain", newPod(nil, cpuMillis, 4*cpuMillis))
		}
	}
	all.into(built)
	return built
}

func onDevices(pod *corev1.Pod, device corev1.ResourceName, count int64) *corev1.Pod {
	pod.Spec.Tolerations = []corev1.Toleration{{
		Key: acceleratedTaint.Key, Operator: corev1.TolerationOpExists, Effect: acceleratedTaint.Effect,
	}}
	return withDevices(pod, device, count)
}
