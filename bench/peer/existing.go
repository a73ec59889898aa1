package main

import (
	"fmt"
	"math/rand/v2"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/utils/resources"
)

const (
	existingNodeCount = 1000
	existingAppCount  = 10
)

// existingTypes are the types of the nodes that are already there.
var existingTypes = []string{"s-4x-amd64-linux", "s-8x-amd64-linux", "m-8x-amd64-linux", "c-16x-amd64-linux"}

// existing has nodes that are half full. Of the new pods eight in ten fit into the holes, and half of those must
// keep their app level over zones; one in ten fits into the larger holes; one in ten needs a new node.
func existing(random *rand.Rand, pods int) *problem {
	agent := newDaemonSet("agent", 100, 128)
	built := &problem{
		InstanceTypes: kwokTypes(),
		NodePools:     []*karpv1.NodePool{newPool("default", linux, amd64, onDemand)},
		DaemonSets:    []*appsv1.DaemonSet{agent},
	}
	for i := range existingNodeCount {
		machine := built.typeNamed(oneOf(random, existingTypes))
		node := newNode(fmt.Sprintf("node-%d", i), machine, kwokZones[i%len(kwokZones)], "default")
		built.Nodes = append(built.Nodes, node)
		built.Pods = append(built.Pods, daemonPodOn(agent, node))
		for j := range 2 {
			built.Pods = append(built.Pods, quarterPod(random, node, j))
		}
	}
	var all pile
	for range pods {
		labels := map[string]string{"app": fmt.Sprintf("app-%d", random.IntN(existingAppCount))}
		switch drawn := random.IntN(10); {
		case drawn < 4:
			all.add("small", newPod(labels, oneOf(random, benchmarkCPUMillis), oneOf(random, benchmarkMemoryMebibytes)))
		case drawn < 8:
			pod := newPod(labels, oneOf(random, benchmarkCPUMillis), oneOf(random, benchmarkMemoryMebibytes))
			all.add("level", withSpread(pod, corev1.LabelTopologyZone, 1, labels))
		case drawn < 9:
			all.add("medium", newPod(nil, 3000, 12*mebibytesPerGibibyte))
		default:
			all.add("large", newPod(nil, 10000+1000*random.IntN(5), 40*mebibytesPerGibibyte))
		}
	}
	all.into(built)
	return built
}

func (p *problem) typeNamed(name string) *instanceType {
	for i := range p.InstanceTypes {
		if p.InstanceTypes[i].Name == name {
			return &p.InstanceTypes[i]
		}
	}
	panic(fmt.Sprintf("the catalogue has no type named %s", name))
}

// newNode is a ready on-demand node of a type in a zone, with the labels its pool's provider gives it.
func newNode(name string, machine *instanceType, zone, pool string) *corev1.Node {
	labels := map[string]string{
		karpv1.NodePoolLabelKey:        pool,
		karpv1.NodeRegisteredLabelKey:  "true",
		karpv1.NodeInitializedLabelKey: "true",
		corev1.LabelHostname:           name,
	}
	for _, one := range machine.Requirements {
		if len(one.Values) == 1 {
			labels[one.Key] = one.Values[0]
		}
	}
	labels[corev1.LabelTopologyZone] = zone
	labels[karpv1.CapacityTypeLabelKey] = karpv1.CapacityTypeOnDemand
	return &corev1.Node{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec:       corev1.NodeSpec{ProviderID: "kwok://" + name},
		Status: corev1.NodeStatus{
			Capacity:    machine.Resources,
			Allocatable: resources.Subtract(machine.Resources, machine.Overhead),
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
}

// daemonPodOn is the daemonset's pod that already runs on a node.
func daemonPodOn(set *appsv1.DaemonSet, node *corev1.Node) *corev1.Pod {
	controller := true
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace,
			Name:      set.Name + "-" + node.Name,
			Labels:    set.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "DaemonSet", Name: set.Name, UID: set.UID, Controller: &controller,
			}},
		},
		Spec: *set.Spec.Template.Spec.DeepCopy(),
	}
	return runningOn(pod, node)
}

// quarterPod takes a quarter of a node's CPU and memory.
func quarterPod(random *rand.Rand, node *corev1.Node, index int) *corev1.Pod {
	labels := map[string]string{"app": fmt.Sprintf("app-%d", random.IntN(existingAppCount))}
	cpu := node.Status.Allocatable[corev1.ResourceCPU]
	memory := node.Status.Allocatable[corev1.ResourceMemory]
	pod := newPod(labels, int(cpu.MilliValue()/4), int(memory.Value()/mebibyte/4))
	pod.Name = fmt.Sprintf("runs-%s-%d", node.Name, index)
	return runningOn(pod, node)
}

func runningOn(pod *corev1.Pod, node *corev1.Node) *corev1.Pod {
	pod.Spec.NodeName = node.Name
	pod.Status.Phase = corev1.PodRunning
	return pod
}
