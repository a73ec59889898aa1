package main

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// instanceType is a kind of machine as the kwok provider's instance-type file writes it, with two
// members more: every label it stands for, and what of its resources pods cannot use.
type instanceType struct {
	Name             string                           `json:"name"`
	Architecture     string                           `json:"architecture"`
	OperatingSystems []string                         `json:"operatingSystems"`
	Resources        corev1.ResourceList              `json:"resources"`
	Overhead         corev1.ResourceList              `json:"overhead"`
	Requirements     []corev1.NodeSelectorRequirement `json:"requirements"`
	Offerings        []offering                       `json:"offerings"`
}

// offering is one way to buy an instance type. The peer's file writes these members with capitals.
type offering struct {
	Price               float64                          `json:"Price"`
	Available           bool                             `json:"Available"`
	ReservationCapacity int                              `json:"ReservationCapacity,omitempty"`
	Requirements        []corev1.NodeSelectorRequirement `json:"Requirements"`
}

// describe writes down an instance type of the peer.
func describe(from *cloudprovider.InstanceType) instanceType {
	described := instanceType{
		Name:             from.Name,
		Architecture:     from.Requirements.Get(corev1.LabelArchStable).Any(),
		OperatingSystems: sortedValues(from.Requirements.Get(corev1.LabelOSStable)),
		Resources:        from.Capacity,
		Overhead:         from.Overhead.Total(),
		Requirements:     describeRequirements(from.Requirements),
	}
	for _, one := range from.Offerings {
		described.Offerings = append(described.Offerings, offering{
			Price:               one.Price,
			Available:           one.Available,
			ReservationCapacity: one.ReservationCapacity,
			Requirements:        describeRequirements(one.Requirements),
		})
	}
	return described
}

// describeRequirements sorts by key and value: the peer keeps both in hash maps.
func describeRequirements(from scheduling.Requirements) []corev1.NodeSelectorRequirement {
	var described []corev1.NodeSelectorRequirement
	for _, one := range from.NodeSelectorRequirements() {
		slices.Sort(one.Values)
		described = append(described, corev1.NodeSelectorRequirement{
			Key: one.Key, Operator: one.Operator, Values: one.Values,
		})
	}
	slices.SortFunc(described, func(a, b corev1.NodeSelectorRequirement) int { return cmp.Compare(a.Key, b.Key) })
	return described
}

func sortedValues(requirement *scheduling.Requirement) []string {
	values := requirement.Values()
	slices.Sort(values)
	return values
}

// forPeer turns a description back into the peer's type, and makes its labels well known to the peer, as
// each of its providers does for its own.
func (t *instanceType) forPeer() *cloudprovider.InstanceType {
	turned := &cloudprovider.InstanceType{
		Name:         t.Name,
		Requirements: scheduling.NewNodeSelectorRequirements(t.Requirements...),
		Capacity:     t.Resources,
		Overhead:     &cloudprovider.InstanceTypeOverhead{KubeReserved: t.Overhead},
	}
	for _, one := range t.Requirements {
		karpv1.WellKnownLabels.Insert(one.Key)
	}
	for _, one := range t.Offerings {
		turned.Offerings = append(turned.Offerings, &cloudprovider.Offering{
			Price:               one.Price,
			Available:           one.Available,
			ReservationCapacity: one.ReservationCapacity,
			Requirements:        scheduling.NewNodeSelectorRequirements(one.Requirements...),
		})
	}
	return turned
}
