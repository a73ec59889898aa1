package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	kwokoptions "sigs.k8s.io/karpenter/kwok/options"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/fake"
)

// kwokZones are the zones of the kwok provider's built-in types.
var kwokZones = []string{"test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"}

// fakeTypeCount is how many types the peer's own benchmark uses.
const fakeTypeCount = 400

// fakeTypes are the types of the peer's own benchmark: 1 CPU, 2 GiB and 10 pods more from each to the next.
func fakeTypes() []instanceType {
	return describeAll(fake.InstanceTypes(fakeTypeCount))
}

// kwokTypes are the 144 types built into the peer's kwok provider, made by its own code.
func kwokTypes() []instanceType {
	types, err := constructKwok("")
	if err != nil {
		panic(fmt.Sprintf("the peer cannot read its own built-in types: %v", err))
	}
	return types
}

// accelerated is the shape of a machine with devices. Names, shapes and on-demand prices are those of EC2 in
// us-east-1.
type accelerated struct {
	name    string
	cpu     string
	memory  string
	device  corev1.ResourceName
	count   string
	dollars float64
}

const (
	nvidiaGPU corev1.ResourceName = "nvidia.com/gpu"
	neuron    corev1.ResourceName = "aws.amazon.com/neuron"
)

var acceleratedShapes = []accelerated{
	{name: "g4dn.xlarge", cpu: "4", memory: "16Gi", device: nvidiaGPU, count: "1", dollars: 0.526},
	{name: "g4dn.12xlarge", cpu: "48", memory: "192Gi", device: nvidiaGPU, count: "4", dollars: 3.912},
	{name: "g5.xlarge", cpu: "4", memory: "16Gi", device: nvidiaGPU, count: "1", dollars: 1.006},
	{name: "g5.2xlarge", cpu: "8", memory: "32Gi", device: nvidiaGPU, count: "1", dollars: 1.212},
	{name: "g5.4xlarge", cpu: "16", memory: "64Gi", device: nvidiaGPU, count: "1", dollars: 1.624},
	{name: "g5.12xlarge", cpu: "48", memory: "192Gi", device: nvidiaGPU, count: "4", dollars: 5.672},
	{name: "g5.48xlarge", cpu: "192", memory: "768Gi", device: nvidiaGPU, count: "8", dollars: 16.288},
	{name: "p4d.24xlarge", cpu: "96", memory: "1152Gi", device: nvidiaGPU, count: "8", dollars: 32.7726},
	{name: "inf2.xlarge", cpu: "4", memory: "16Gi", device: neuron, count: "1", dollars: 0.7582},
	{name: "inf2.24xlarge", cpu: "96", memory: "384Gi", device: neuron, count: "6", dollars: 6.49063},
	{name: "inf2.48xlarge", cpu: "192", memory: "768Gi", device: neuron, count: "12", dollars: 12.98127},
}

// acceleratedFamilies are the families of acceleratedShapes, as the kwok provider reads them off the names.
var acceleratedFamilies = []string{"g4dn", "g5", "inf2", "p4d"}

// spotShare is what a spot machine costs in the kwok provider's list, as a share of on-demand.
const spotShare = 0.7

// acceleratedTypes are machines with devices, made by the kwok provider's code from a file in its format. They
// are sold in two of the four zones.
func acceleratedTypes() []instanceType {
	var written []instanceType
	for _, shape := range acceleratedShapes {
		one := instanceType{
			Name:             shape.name,
			Architecture:     karpv1.ArchitectureAmd64,
			OperatingSystems: []string{string(corev1.Linux)},
			Resources: corev1.ResourceList{
				corev1.ResourceCPU:              resource.MustParse(shape.cpu),
				corev1.ResourceMemory:           resource.MustParse(shape.memory),
				corev1.ResourceEphemeralStorage: resource.MustParse("20Gi"),
				shape.device:                    resource.MustParse(shape.count),
			},
		}
		for _, zone := range kwokZones[:2] {
			one.Offerings = append(one.Offerings,
				zonalOffering(zone, karpv1.CapacityTypeSpot, math.Round(shape.dollars*spotShare*1e6)/1e6),
				zonalOffering(zone, karpv1.CapacityTypeOnDemand, shape.dollars))
		}
		written = append(written, one)
	}
	types, err := throughKwokFile(written)
	if err != nil {
		panic(fmt.Sprintf("the peer cannot read the accelerated types: %v", err))
	}
	return types
}

func zonalOffering(zone, capacityType string, dollars float64) offering {
	return offering{Price: dollars, Available: true, Requirements: []corev1.NodeSelectorRequirement{
		{Key: karpv1.CapacityTypeLabelKey, Operator: corev1.NodeSelectorOpIn, Values: []string{capacityType}},
		{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{zone}},
	}}
}

// throughKwokFile hands types to the kwok provider the only way it takes them: in a file.
func throughKwokFile(written []instanceType) ([]instanceType, error) {
	folder, err := os.MkdirTemp("", "peer-types-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	text, err := json.Marshal(written)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder, "instance_types.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, err
	}
	return constructKwok(path)
}

// constructKwok makes the kwok provider's types from a file, or its built-in ones without a path.
func constructKwok(path string) ([]instanceType, error) {
	ctx := kwokoptions.ToContext(context.Background(), &kwokoptions.Options{InstanceTypesFilePath: path})
	types, err := kwok.ConstructInstanceTypes(ctx)
	if err != nil {
		return nil, err
	}
	return describeAll(types), nil
}

func describeAll(types []*cloudprovider.InstanceType) []instanceType {
	described := make([]instanceType, 0, len(types))
	for _, one := range types {
		described = append(described, describe(one))
	}
	return described
}
