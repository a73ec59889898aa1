package main

import (
	"fmt"
	"math/rand"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/karpenter/pkg/utils/resources"
)

func podRequestSections() []section {
	var rows []any
	for _, pod := range podStories() {
		rows = append(rows, podRequestRow(pod))
	}
	r := random("pod_requests")
	for range 260 {
		rows = append(rows, podRequestRow(randomPod(r)))
	}
	return []section{{"rows", rows}}
}

func podRequestRow(document object) row {
	pod := &corev1.Pod{}
	decode(document, pod)
	return row{}.with("pod", document).
		with("requests", resourceTexts(resources.RequestsForPods(pod))).
		with("limits", resourceTexts(resources.Ceiling(pod).Limits)).
		with("specRequests", resourceTexts(resources.RequestsForSpec(&pod.Spec)))
}

func resourceTexts(list corev1.ResourceList) map[string]string {
	texts := map[string]string{}
	for name, quantity := range list {
		texts[string(name)] = canonical(quantity)
	}
	return texts
}

// container has requests and, when given, limits.
func container(name string, requests, limits object) object {
	needs := object{}
	if requests != nil {
		needs["requests"] = requests
	}
	if limits != nil {
		needs["limits"] = limits
	}
	return object{"name": name, "resources": needs}
}

// sidecar is an init container that keeps running.
func sidecar(name string, requests object) object {
	c := container(name, requests, nil)
	c["restartPolicy"] = "Always"
	return c
}

func cpu(amount string) object { return object{"cpu": amount} }

func podSpec(members object) object { return object{"spec": members} }

func podStories() []object {
	only := func(containers ...any) object { return podSpec(object{"containers": containers}) }
	gpu := func(count string) object { return object{"nvidia.com/gpu": count} }
	stories := []object{
		podSpec(object{}), podSpec(object{"containers": []any{}}),
		only(container("a", object{"cpu": "1", "memory": "1Gi"}, nil)),
		only(container("a", nil, nil)), only(container("a", nil, cpu("2"))),
		only(container("a", object{"pods": "5", "cpu": "1"}, nil)),
		only(container("a", cpu("0"), cpu("0"))),
		only(
			container("a", cpu("500m"), cpu("1")),
			container("b", object{"memory": "512Mi"}, object{"memory": "1Gi"}),
		),
		only(container("a", gpu("1"), gpu("1")), container("b", gpu("2"), nil)),
	}
	stories = append(stories, initStories()...)
	stories = append(stories, podLevelStories()...)
	return append(stories, resizeStories()...)
}

// initStories order init containers and sidecars in every way that matters.
func initStories() []object {
	lists := [][]any{
		{container("i", cpu("3"), cpu("4"))},
		{container("i", cpu("500m"), nil), container("j", cpu("2"), nil)},
		{sidecar("s", cpu("1"))},
		{sidecar("s", cpu("1")), container("i", cpu("2"), nil)},
		{container("i", cpu("2"), nil), sidecar("s", cpu("1"))},
		{sidecar("s", cpu("1")), container("i", cpu("2"), nil), sidecar("t", cpu("4"))},
	}
	main := []any{container("a", object{"cpu": "1", "memory": "1Gi"}, nil)}
	var stories []object
	for _, list := range lists {
		stories = append(stories, podSpec(object{"containers": main, "initContainers": list}))
	}
	return stories
}

// podLevelStories have overhead, or requests and limits of the pod as a whole.
func podLevelStories() []object {
	main := []any{container("a", object{"cpu": "1", "memory": "1Gi"}, nil)}
	limited := []any{container("a", cpu("1"), object{"cpu": "2", "memory": "0"})}
	whole := func(resources object) object {
		return podSpec(object{"containers": main, "resources": resources})
	}
	overhead := object{"cpu": "250m", "memory": "64Mi", "example.com/x": "1"}
	mixed := object{"cpu": "2", "ephemeral-storage": "1Gi", "hugepages-2Mi": "4Mi"}
	return []object{
		podSpec(object{"containers": main, "overhead": overhead}),
		podSpec(object{"containers": limited, "overhead": overhead}),
		whole(object{"requests": cpu("4")}), whole(object{"requests": cpu("100m")}),
		whole(object{"limits": cpu("4")}),
		whole(object{"requests": object{"ephemeral-storage": "1Gi"}}),
		podSpec(object{
			"containers": main, "resources": object{"requests": mixed}, "overhead": cpu("1"),
		}),
	}
}

// containerStatus is what the kubelet reports of one container.
func containerStatus(name string, actual, allocated object) object {
	status := object{"name": name}
	if actual != nil {
		status["resources"] = object{"requests": actual, "limits": actual}
	}
	if allocated != nil {
		status["allocatedResources"] = allocated
	}
	return status
}

// resizeStories cover what the kubelet reports while a container changes size in place.
func resizeStories() []object {
	pending := func(reason string) []any {
		return []any{object{"type": "PodResizePending", "status": "True", "reason": reason}}
	}
	spec := object{"containers": []any{container("a", cpu("1"), cpu("1"))}}
	var stories []object
	for _, actual := range []object{nil, {}, cpu("500m"), cpu("2")} {
		for _, allocated := range []object{nil, cpu("500m"), cpu("3"), {"memory": "1Gi"}} {
			for _, conditions := range [][]any{{}, pending("Infeasible"), pending("Deferred")} {
				statuses := []any{containerStatus("a", actual, allocated)}
				status := object{"containerStatuses": statuses, "conditions": conditions}
				stories = append(stories, object{"spec": spec, "status": status})
			}
		}
	}
	return append(stories, misplacedStatusStories()...)
}

// misplacedStatusStories report sizes for init containers, strangers and the pod as a whole.
func misplacedStatusStories() []object {
	one := []any{container("a", cpu("1"), nil)}
	initial := []any{sidecar("s", cpu("1")), container("i", cpu("1"), nil)}
	withSidecar := object{"containers": one, "initContainers": initial}
	whole := object{"containers": one, "resources": object{"requests": cpu("3")}}
	reports := func(member string, statuses ...any) object { return object{member: statuses} }
	return []object{
		{"spec": withSidecar, "status": reports(
			"initContainerStatuses", containerStatus("s", cpu("4"), nil),
			containerStatus("i", cpu("9"), cpu("9")),
		)},
		{"spec": withSidecar, "status": reports(
			"containerStatuses", containerStatus("s", cpu("4"), nil),
		)},
		{"spec": object{"containers": one}, "status": reports(
			"containerStatuses", containerStatus("other", cpu("4"), cpu("4")),
		)},
		{"spec": whole, "status": reports(
			"containerStatuses", containerStatus("a", cpu("5"), cpu("5")),
		)},
		{"spec": whole, "status": object{
			"resources": object{"requests": cpu("7")}, "allocatedResources": cpu("8"),
		}},
	}
}

func randomPod(r *rand.Rand) object {
	amounts := map[string][]string{
		"cpu":    {"0", "100m", "250m", "1", "1500m", "2"},
		"memory": {"64Mi", "1Gi", "1536Mi", "1G", "100M"}, "ephemeral-storage": {"1Gi", "500M"},
		"example.com/card": {"1", "2"},
	}
	names := []string{"cpu", "memory", "ephemeral-storage", "example.com/card"}
	some := func() object {
		list := object{}
		for _, name := range names {
			if r.Intn(2) == 0 {
				list[name] = pick(r, amounts[name])
			}
		}
		return list
	}
	containers, initial, statuses := []any{}, []any{}, []any{}
	for i := range 1 + r.Intn(3) {
		name := fmt.Sprintf("c%d", i)
		containers = append(containers, container(name, some(), some()))
		if r.Intn(4) == 0 {
			statuses = append(
				statuses,
				object{
					"name": name, "resources": object{"requests": some()},
					"allocatedResources": some(),
				},
			)
		}
	}
	for i := range r.Intn(4) {
		c := container(fmt.Sprintf("i%d", i), some(), some())
		if r.Intn(2) == 0 {
			c["restartPolicy"] = "Always"
		}
		initial = append(initial, c)
	}
	spec := object{"containers": containers}
	if len(initial) > 0 {
		spec["initContainers"] = initial
	}
	if r.Intn(4) == 0 {
		spec["overhead"] = some()
	}
	if r.Intn(5) == 0 {
		spec["resources"] = object{"requests": some(), "limits": some()}
	}
	pod := object{"spec": spec}
	if len(statuses) > 0 {
		pod["status"] = object{"containerStatuses": statuses}
	}
	return pod
}
