package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// formatVersion is the version of both files, problem and result.
const formatVersion = 1

// problem is everything a scheduler is given; the README describes each member.
type problem struct {
	Version                int                             `json:"version"`
	Workload               string                          `json:"workload"`
	Seed                   uint64                          `json:"seed"`
	InstanceTypes          []instanceType                  `json:"instanceTypes"`
	NodePools              []*karpv1.NodePool              `json:"nodePools"`
	PodGroups              []*podGroup                     `json:"podGroups"`
	Pods                   []*corev1.Pod                   `json:"pods"`
	DaemonSets             []*appsv1.DaemonSet             `json:"daemonSets"`
	Nodes                  []*corev1.Node                  `json:"nodes"`
	PersistentVolumeClaims []*corev1.PersistentVolumeClaim `json:"persistentVolumeClaims"`
	PersistentVolumes      []*corev1.PersistentVolume      `json:"persistentVolumes"`
	StorageClasses         []*storagev1.StorageClass       `json:"storageClasses"`
}

// podGroup stands for count pods that differ only in their names: the prefix followed by 0, 1, 2, …
type podGroup struct {
	Count      int         `json:"count"`
	NamePrefix string      `json:"namePrefix"`
	Pod        *corev1.Pod `json:"pod"`
}

// readProblem reads a problem and refuses a version it does not know.
func readProblem(from io.Reader) (*problem, error) {
	var p problem
	if err := json.NewDecoder(from).Decode(&p); err != nil {
		return nil, fmt.Errorf("reading the problem: %w", err)
	}
	if p.Version != formatVersion {
		return nil, fmt.Errorf("the problem has version %d; this program knows %d", p.Version, formatVersion)
	}
	return &p, nil
}

// write writes the problem with one array entry a line.
func (p *problem) write(to io.Writer) error {
	pools, err := withoutStatus(p.NodePools)
	if err != nil {
		return err
	}
	return writeMembers(to, []member{
		{"version", p.Version},
		{"workload", p.Workload},
		{"seed", p.Seed},
		{"instanceTypes", p.InstanceTypes},
		{"nodePools", pools},
		{"podGroups", p.PodGroups},
		{"pods", p.Pods},
		{"daemonSets", p.DaemonSets},
		{"nodes", p.Nodes},
		{"persistentVolumeClaims", p.PersistentVolumeClaims},
		{"persistentVolumes", p.PersistentVolumes},
		{"storageClasses", p.StorageClasses},
	})
}

// withoutStatus drops the status, which the peer's type prints with a null that the API does not take.
func withoutStatus(pools []*karpv1.NodePool) ([]map[string]json.RawMessage, error) {
	var trimmed []map[string]json.RawMessage
	for _, pool := range pools {
		text, err := json.Marshal(pool)
		if err != nil {
			return nil, err
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(text, &members); err != nil {
			return nil, err
		}
		delete(members, "status")
		trimmed = append(trimmed, members)
	}
	return trimmed, nil
}

// allPods gives every pod of the problem with its identity: first those still to be placed, then
// those already on a node. Equal problems give equal lists.
func (p *problem) allPods() (pending, bound []*corev1.Pod, err error) {
	var pods []*corev1.Pod
	for _, group := range p.PodGroups {
		for i := range group.Count {
			one := group.Pod.DeepCopy()
			one.Name = fmt.Sprintf("%s%d", group.NamePrefix, i)
			pods = append(pods, one)
		}
	}
	for _, one := range p.Pods {
		pods = append(pods, one.DeepCopy())
	}
	seen := map[string]bool{}
	for _, one := range pods {
		name := podName(one)
		if seen[name] {
			return nil, nil, fmt.Errorf("there are two pods named %s", name)
		}
		seen[name] = true
		if one.UID == "" {
			one.UID = uidFor(name)
		}
		if one.Spec.NodeName == "" {
			pending = append(pending, one)
		} else {
			bound = append(bound, one)
		}
	}
	return pending, bound, nil
}

// podName is the name of a pod in every result: namespace, slash, name.
func podName(pod *corev1.Pod) string {
	return pod.Namespace + "/" + pod.Name
}

// uidFor derives a pod's UID from its name. The peer breaks ties between pods of equal size by UID, so
// that a random one would give another packing in each run.
func uidFor(name string) types.UID {
	sum := sha256.Sum256([]byte(name))
	return types.UID(fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]))
}
