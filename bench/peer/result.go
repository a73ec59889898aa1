package main

import (
	"cmp"
	"fmt"
	"io"
	"math/big"
	"runtime"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	provisioning "sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
)

// reference is what is measured; a test holds it against go.mod.
const reference = "sigs.k8s.io/karpenter v1.14.1"

// result is one measured problem; the README describes each member.
type result struct {
	Workload      string
	Seed          uint64
	Pods          int
	Concurrency   int
	SolveNanos    int64
	SolveCPUNanos int64
	PodsPerSecond float64
	Memory        memory
	Rounds        []round
	outcome
}

// memory is the peak resident size at three points in time.
type memory struct {
	BeforeBytes        uint64 `json:"beforeBytes"`
	PeakBytes          uint64 `json:"peakBytes"`
	PeakAllRoundsBytes uint64 `json:"peakAllRoundsBytes"`
}

// outcome is what the peer decided. Everything is sorted, so that equal outcomes are equal texts.
type outcome struct {
	NewNodes      []newNodeOutcome
	ExistingNodes []existingNodeOutcome
	Unschedulable []unschedulablePod
}

type newNodeOutcome struct {
	NodePool            string   `json:"nodePool"`
	InstanceType        string   `json:"instanceType"`
	Zone                string   `json:"zone"`
	CapacityType        string   `json:"capacityType"`
	PriceMicrosPerHour  uint64   `json:"priceMicrosPerHour"`
	InstanceTypeOptions int      `json:"instanceTypeOptions"`
	Pods                []string `json:"pods"`
}

type existingNodeOutcome struct {
	Name string   `json:"name"`
	Pods []string `json:"pods"`
}

type unschedulablePod struct {
	Pod    string `json:"pod"`
	Reason string `json:"reason"`
}

func newResult(from *problem, p *peer, with settings) *result {
	return &result{
		Workload: from.Workload, Seed: from.Seed, Pods: len(p.pending), Concurrency: with.concurrency,
	}
}

// write writes the result with one array entry a line.
func (r *result) write(to io.Writer) error {
	return writeMembers(to, []member{
		{"version", formatVersion},
		{"reference", reference},
		{"go", runtime.Version()},
		{"processors", runtime.GOMAXPROCS(0)},
		{"workload", r.Workload},
		{"seed", r.Seed},
		{"concurrency", r.Concurrency},
		{"pods", r.Pods},
		{"podsScheduled", r.Pods - len(r.Unschedulable)},
		{"podsUnscheduled", len(r.Unschedulable)},
		{"solveNanos", r.SolveNanos},
		{"solveCpuNanos", r.SolveCPUNanos},
		{"podsPerSecond", r.PodsPerSecond},
		{"newNodeCount", len(r.NewNodes)},
		{"priceMicrosPerHour", r.priceMicrosPerHour()},
		{"memory", r.Memory},
		{"rounds", r.Rounds},
		{"newNodes", r.NewNodes},
		{"existingNodes", r.ExistingNodes},
		{"unschedulable", r.Unschedulable},
	})
}

// newOutcome writes down the peer's answer and what it costs.
func newOutcome(from *provisioning.Results) (*outcome, error) {
	var o outcome
	for _, claim := range from.NewNodeClaims {
		bought, err := cheapest(claim)
		if err != nil {
			return nil, err
		}
		o.NewNodes = append(o.NewNodes, bought)
	}
	slices.SortFunc(o.NewNodes, func(a, b newNodeOutcome) int { return cmp.Compare(a.Pods[0], b.Pods[0]) })
	for _, node := range from.ExistingNodes {
		if len(node.Pods) > 0 {
			o.ExistingNodes = append(o.ExistingNodes, existingNodeOutcome{Name: node.Name(), Pods: podNames(node.Pods)})
		}
	}
	slices.SortFunc(o.ExistingNodes, func(a, b existingNodeOutcome) int { return cmp.Compare(a.Name, b.Name) })
	for pod, reason := range from.PodErrors {
		o.Unschedulable = append(o.Unschedulable, unschedulablePod{Pod: podName(pod), Reason: reason.Error()})
	}
	slices.SortFunc(o.Unschedulable, func(a, b unschedulablePod) int { return cmp.Compare(a.Pod, b.Pod) })
	return &o, nil
}

// cheapest is what the peer's claim costs at best: the cheapest available offering, among all types the claim still
// allows, that its requirements allow too. Ties go to the first type, zone and capacity type by name.
func cheapest(claim *provisioning.NodeClaim) (newNodeOutcome, error) {
	var best *newNodeOutcome
	for _, machine := range claim.InstanceTypeOptions {
		for _, sold := range machine.Offerings.Available().Compatible(claim.Requirements) {
			candidate := newNodeOutcome{
				NodePool:            claim.NodePoolName,
				InstanceType:        machine.Name,
				Zone:                labelOf(sold, corev1.LabelTopologyZone),
				CapacityType:        labelOf(sold, karpv1.CapacityTypeLabelKey),
				PriceMicrosPerHour:  micros(sold.Price),
				InstanceTypeOptions: len(claim.InstanceTypeOptions),
			}
			if best == nil || candidate.compare(best) < 0 {
				best = &candidate
			}
		}
	}
	if best == nil {
		return newNodeOutcome{}, fmt.Errorf("a node claim of pool %s cannot be bought at all", claim.NodePoolName)
	}
	best.Pods = podNames(claim.Pods)
	return *best, nil
}

func (n *newNodeOutcome) compare(other *newNodeOutcome) int {
	return cmp.Or(
		cmp.Compare(n.PriceMicrosPerHour, other.PriceMicrosPerHour),
		cmp.Compare(n.InstanceType, other.InstanceType),
		cmp.Compare(n.Zone, other.Zone),
		cmp.Compare(n.CapacityType, other.CapacityType),
	)
}

func labelOf(sold *cloudprovider.Offering, key string) string {
	return sold.Requirements.Get(key).Any()
}

func podNames(pods []*corev1.Pod) []string {
	names := make([]string, 0, len(pods))
	for _, pod := range pods {
		names = append(names, podName(pod))
	}
	slices.Sort(names)
	return names
}

// betterThan prefers more pods placed, then the lower price, then fewer nodes.
func (o *outcome) betterThan(other *outcome) bool {
	return cmp.Or(
		cmp.Compare(len(o.Unschedulable), len(other.Unschedulable)),
		cmp.Compare(o.priceMicrosPerHour(), other.priceMicrosPerHour()),
		cmp.Compare(len(o.NewNodes), len(other.NewNodes)),
	) < 0
}

func (o *outcome) priceMicrosPerHour() uint64 {
	var sum uint64
	for _, node := range o.NewNodes {
		sum += node.PriceMicrosPerHour
	}
	return sum
}

// micros rounds a price to whole micro-dollars, halves up, from its shortest decimal text: the text a reader of the
// problem file rounds as well.
func micros(dollars float64) uint64 {
	exact, ok := new(big.Rat).SetString(strconv.FormatFloat(dollars, 'f', -1, 64))
	if !ok {
		panic(fmt.Sprintf("a price of %v is no number", dollars))
	}
	exact.Mul(exact, big.NewRat(1_000_000, 1)).Add(exact, big.NewRat(1, 2))
	return new(big.Int).Div(exact.Num(), exact.Denom()).Uint64()
}
