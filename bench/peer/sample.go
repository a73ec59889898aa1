package main

import (
	"math/rand/v2"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// sampleTypes are few, so that the sample stays small.
var sampleTypes = []string{
	"c-2x-amd64-linux", "s-2x-amd64-linux", "s-4x-amd64-linux", "s-4x-arm64-linux", "m-4x-amd64-linux",
	"s-8x-amd64-linux", "c-16x-amd64-linux", "m-16x-arm64-linux", "g5.2xlarge",
}

// sample uses every member of the file: pools with taints and weights, groups and single pods, daemonsets, nodes
// with their pods, volumes bound and unbound. One pod fits nowhere, so that results name a reason.
func sample(random *rand.Rand, pods int) *problem {
	agent := newDaemonSet("agent", 100, 128)
	devices := newPool("accelerated", linux, in(corev1.LabelInstanceTypeStable, "g5.2xlarge"))
	devices.Spec.Template.Spec.Taints = []corev1.Taint{acceleratedTaint}
	weight := int32(10)
	devices.Spec.Weight = &weight
	built := &problem{
		InstanceTypes: slices.DeleteFunc(append(kwokTypes(), acceleratedTypes()...), func(t instanceType) bool {
			return !slices.Contains(sampleTypes, t.Name)
		}),
		NodePools:      []*karpv1.NodePool{devices, newPool("default", linux, onDemand)},
		DaemonSets:     []*appsv1.DaemonSet{agent},
		StorageClasses: []*storagev1.StorageClass{newStorageClass(kwokZones[:2])},
	}
	for i, name := range []string{"node-a", "node-b"} {
		node := newNode(name, built.typeNamed("s-4x-amd64-linux"), kwokZones[i], "default")
		built.Nodes = append(built.Nodes, node)
		built.Pods = append(built.Pods, daemonPodOn(agent, node), quarterPod(random, node, 0))
	}
	for _, bound := range []string{kwokZones[2], ""} {
		pod := newPod(nil, 1500, 3*mebibytesPerGibibyte)
		pod.Name = "db-bound"
		if bound == "" {
			pod.Name = "db-unbound"
		}
		built.claimVolume(pod, bound)
		built.Pods = append(built.Pods, pod)
	}
	var all pile
	all.add("gpu", onDevices(newPod(nil, 4000, 16*mebibytesPerGibibyte), nvidiaGPU, 1))
	all.add("too-large", newPod(nil, 64000, 64*mebibytesPerGibibyte))
	web := map[string]string{"app": "web"}
	for range max(pods-4, 0) {
		all.add("web", withSpread(newPod(web, 1200, 2500), corev1.LabelTopologyZone, 1, web))
	}
	all.into(built)
	return built
}
