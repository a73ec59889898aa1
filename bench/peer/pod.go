package main

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// namespace holds every namespaced object of every problem.
const namespace = "default"

const (
	mebibyte = 1 << 20
	// mebibytesPerGibibyte turns GiB into the MiB that newPod takes.
	mebibytesPerGibibyte = 1024
)

// newPod is a pod that asks for CPU and memory and nothing else.
func newPod(labels map[string]string, cpuMillis, memoryMebibytes int) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Labels: labels},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name:      "app",
			Image:     "registry.k8s.io/pause:3.10",
			Resources: corev1.ResourceRequirements{Requests: requests(cpuMillis, memoryMebibytes)},
		}}},
	}
}

func requests(cpuMillis, memoryMebibytes int) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(int64(cpuMillis), resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(int64(memoryMebibytes)*mebibyte, resource.BinarySI),
	}
}

// withDevices asks for whole devices, as requests and as the limits that Kubernetes demands to be equal.
func withDevices(pod *corev1.Pod, device corev1.ResourceName, count int64) *corev1.Pod {
	resources := &pod.Spec.Containers[0].Resources
	resources.Requests[device] = *resource.NewQuantity(count, resource.DecimalSI)
	resources.Limits = corev1.ResourceList{device: *resource.NewQuantity(count, resource.DecimalSI)}
	return pod
}

// withSpread adds a hard spread of pods with these labels over the domains of a key.
func withSpread(pod *corev1.Pod, key string, maxSkew int32, selector map[string]string) *corev1.Pod {
	pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
		MaxSkew:           maxSkew,
		TopologyKey:       key,
		WhenUnsatisfiable: corev1.DoNotSchedule,
		LabelSelector:     &metav1.LabelSelector{MatchLabels: selector},
	})
	return pod
}

// podTerm is a pod affinity term over pods with these labels.
func podTerm(key string, selector map[string]string) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{LabelSelector: &metav1.LabelSelector{MatchLabels: selector}, TopologyKey: key}
}

// pile collects pods and keeps equal ones together, so that a problem of many equal pods is a small file.
type pile struct {
	groups  []*podGroup
	byShape map[string]*podGroup
}

// add puts a pod on the pile; the family begins its name.
func (p *pile) add(family string, pod *corev1.Pod) {
	text, err := json.Marshal(pod)
	if err != nil {
		panic(fmt.Sprintf("a pod of ours cannot be written: %v", err))
	}
	shape := family + string(text)
	group, known := p.byShape[shape]
	if !known {
		if p.byShape == nil {
			p.byShape = map[string]*podGroup{}
		}
		group = &podGroup{NamePrefix: fmt.Sprintf("%s-%d-", family, len(p.groups)), Pod: pod}
		p.byShape[shape] = group
		p.groups = append(p.groups, group)
	}
	group.Count++
}

// into moves the pods into a problem: groups where there are equal ones, single pods otherwise.
func (p *pile) into(to *problem) {
	for _, group := range p.groups {
		if group.Count > 1 {
			to.PodGroups = append(to.PodGroups, group)
			continue
		}
		group.Pod.Name = group.NamePrefix + "0"
		to.Pods = append(to.Pods, group.Pod)
	}
}
