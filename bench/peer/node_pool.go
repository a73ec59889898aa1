package main

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// in is a pool requirement: one of these values.
func in(key string, values ...string) karpv1.NodeSelectorRequirementWithMinValues {
	return karpv1.NodeSelectorRequirementWithMinValues{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

// notIn is a pool requirement: none of these values.
func notIn(key string, values ...string) karpv1.NodeSelectorRequirementWithMinValues {
	return karpv1.NodeSelectorRequirementWithMinValues{Key: key, Operator: corev1.NodeSelectorOpNotIn, Values: values}
}

// The requirements most pools share.
var (
	linux    = in(corev1.LabelOSStable, string(corev1.Linux))
	amd64    = in(corev1.LabelArchStable, karpv1.ArchitectureAmd64)
	onDemand = in(karpv1.CapacityTypeLabelKey, karpv1.CapacityTypeOnDemand)
)

// newPool is a pool without limits, taints or weight.
func newPool(name string, requirements ...karpv1.NodeSelectorRequirementWithMinValues) *karpv1.NodePool {
	pool := &karpv1.NodePool{
		TypeMeta:   metav1.TypeMeta{APIVersion: "karpenter.sh/v1", Kind: "NodePool"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
	}
	pool.Spec.Template.Spec.NodeClassRef = &karpv1.NodeClassReference{
		Group: "karpenter.kwok.sh", Kind: "KWOKNodeClass", Name: "default",
	}
	// The API demands the member, also when it holds nothing.
	pool.Spec.Template.Spec.Requirements = append([]karpv1.NodeSelectorRequirementWithMinValues{}, requirements...)
	return pool
}

// roomyPool is the pool of the peer's own benchmark: anything goes, under limits that are never reached.
func roomyPool() *karpv1.NodePool {
	pool := newPool("default")
	pool.Spec.Limits = karpv1.Limits{
		corev1.ResourceCPU:    resource.MustParse("10000000"),
		corev1.ResourceMemory: resource.MustParse("10000000Gi"),
	}
	return pool
}

// linuxOnDemand is the problem without pods that most workloads start from.
func linuxOnDemand() *problem {
	return &problem{
		InstanceTypes: kwokTypes(),
		NodePools:     []*karpv1.NodePool{newPool("default", linux, onDemand)},
	}
}
