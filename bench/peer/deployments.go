package main

import (
	"fmt"
	"math/rand/v2"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

const deploymentCount = 30

// oneAHostReplicas is up to how many replicas a deployment wants each on a host of its own.
const oneAHostReplicas = 12

// deployments are 30 sets of equal pods of different sizes. Each is spread evenly over zones and, the larger
// the set the more loosely, over hosts.
func deployments(random *rand.Rand, pods int) *problem {
	built := &problem{
		InstanceTypes: kwokTypes(),
		NodePools:     []*karpv1.NodePool{newPool("default", linux, amd64, onDemand)},
		DaemonSets:    []*appsv1.DaemonSet{newDaemonSet("agent", 100, 200)},
	}
	for i, replicas := range shares(random, pods, deploymentCount) {
		labels := map[string]string{"app": fmt.Sprintf("app-%d", i)}
		cpuMillis := oneOf(random, []int{100, 250, 500, 750, 1000, 2000})
		mebibytesPerCPU := oneOf(random, []int{1024, 2048, 4096, 8192})
		hostSkew := oneOf(random, []int32{2, 4, 8})
		if replicas <= oneAHostReplicas {
			hostSkew = 1
		}
		pod := newPod(labels, cpuMillis, cpuMillis*mebibytesPerCPU/1000)
		withSpread(pod, corev1.LabelTopologyZone, 1, labels)
		withSpread(pod, corev1.LabelHostname, hostSkew, labels)
		if replicas > 0 {
			built.PodGroups = append(built.PodGroups, &podGroup{
				Count: replicas, NamePrefix: fmt.Sprintf("app-%d-", i), Pod: pod,
			})
		}
	}
	return built
}

// newDaemonSet runs one such pod on each node.
func newDaemonSet(name string, cpuMillis, memoryMebibytes int) *appsv1.DaemonSet {
	labels := map[string]string{"daemon": name}
	pod := newPod(labels, cpuMillis, memoryMebibytes)
	pod.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	return &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: uidFor("daemonset " + name)},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod.Spec},
		},
	}
}

// shares splits a total into so many parts of weights one to nine, none of it lost.
func shares(random *rand.Rand, total, parts int) []int {
	weights := make([]int, parts)
	sum := 0
	for i := range weights {
		weights[i] = 1 + random.IntN(9)
		sum += weights[i]
	}
	split := make([]int, parts)
	weight, given := 0, 0
	for i := range split {
		weight += weights[i]
		split[i] = total*weight/sum - given
		given += split[i]
	}
	return split
}
