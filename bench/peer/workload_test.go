package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/karpenter/pkg/utils/resources"
)

// written is the problem file of a workload.
func written(t *testing.T, one workload, pods int, seed uint64) []byte {
	t.Helper()
	var text bytes.Buffer
	if err := one.generate(pods, seed).write(&text); err != nil {
		t.Fatalf("%s cannot be written: %v", one.name, err)
	}
	return text.Bytes()
}

func TestTheSameSeedGivesTheSameBytes(t *testing.T) {
	for _, one := range workloads {
		if !bytes.Equal(written(t, one, one.quick, 7), written(t, one, one.quick, 7)) {
			t.Errorf("%s differs between two runs with one seed", one.name)
		}
	}
}

func TestAnotherSeedGivesAnotherProblem(t *testing.T) {
	for _, one := range workloads {
		if one.name == "two-shapes" {
			continue // Nothing in it is drawn by chance.
		}
		first, second := one.generate(one.quick, 7), one.generate(one.quick, 8)
		second.Seed = first.Seed
		var a, b bytes.Buffer
		if err := first.write(&a); err != nil {
			t.Fatal(err)
		}
		if err := second.write(&b); err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("%s does not depend on the seed", one.name)
		}
	}
}

func TestAProblemReadBackIsTheSameProblem(t *testing.T) {
	for _, one := range workloads {
		text := written(t, one, one.quick, 7)
		back, err := readProblem(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", one.name, err)
		}
		var again bytes.Buffer
		if err := back.write(&again); err != nil {
			t.Fatalf("%s: %v", one.name, err)
		}
		if !bytes.Equal(text, again.Bytes()) {
			t.Errorf("%s changes when read and written again", one.name)
		}
	}
}

func TestAProblemHasAsManyPodsToPlaceAsAskedFor(t *testing.T) {
	for _, one := range workloads {
		for _, pods := range []int{one.quick, one.quick + 3} {
			pending, _, err := one.generate(pods, 7).allPods()
			if err != nil {
				t.Fatalf("%s: %v", one.name, err)
			}
			if len(pending) != pods {
				t.Errorf("%s has %d pods to place instead of %d", one.name, len(pending), pods)
			}
		}
	}
}

func TestTheMixIsAFifthEach(t *testing.T) {
	one, err := workloadNamed("mixed")
	if err != nil {
		t.Fatal(err)
	}
	pending, _, err := one.generate(502, 7).allPods()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, pod := range pending {
		counts[kindOfMix(pod)]++
	}
	expected := map[string]int{"plain": 102, "zone spread": 100, "host spread": 100, "near": 100, "apart": 100}
	for kind, count := range expected {
		if counts[kind] != count {
			t.Errorf("%d pods are %q instead of %d", counts[kind], kind, count)
		}
	}
}

func kindOfMix(pod *corev1.Pod) string {
	switch affinity, spread := pod.Spec.Affinity, pod.Spec.TopologySpreadConstraints; {
	case affinity != nil && affinity.PodAffinity != nil:
		return "near"
	case affinity != nil && affinity.PodAntiAffinity != nil:
		return "apart"
	case len(spread) == 1 && spread[0].TopologyKey == corev1.LabelTopologyZone:
		return "zone spread"
	case len(spread) == 1 && spread[0].TopologyKey == corev1.LabelHostname:
		return "host spread"
	default:
		return "plain"
	}
}

func TestExistingNodesAreAboutHalfFull(t *testing.T) {
	one, err := workloadNamed("existing")
	if err != nil {
		t.Fatal(err)
	}
	built := one.generate(10, 7)
	_, bound, err := built.allPods()
	if err != nil {
		t.Fatal(err)
	}
	on := map[string][]*corev1.Pod{}
	for _, pod := range bound {
		on[pod.Spec.NodeName] = append(on[pod.Spec.NodeName], pod)
	}
	if len(built.Nodes) != existingNodeCount {
		t.Fatalf("there are %d nodes instead of %d", len(built.Nodes), existingNodeCount)
	}
	for _, node := range built.Nodes {
		used := resources.RequestsForPods(on[node.Name]...)
		share := used.Cpu().MilliValue() * 100 / node.Status.Allocatable.Cpu().MilliValue()
		if share < 45 || share > 55 {
			t.Errorf("node %s is filled to %d in a hundred", node.Name, share)
		}
	}
}

func TestTheCommittedSampleIsTheGeneratedOne(t *testing.T) {
	one, err := workloadNamed("sample")
	if err != nil {
		t.Fatal(err)
	}
	committed, err := os.ReadFile("sample/problem.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(committed, written(t, one, one.sizes[0], seedDefault)) {
		t.Error("sample/problem.json is old; the README says how to make it again")
	}
}

func TestTwoPodsOfOneNameAreRefused(t *testing.T) {
	twice := &problem{Pods: []*corev1.Pod{newPod(nil, 1, 1), newPod(nil, 1, 1)}}
	if _, _, err := twice.allPods(); err == nil || !strings.Contains(err.Error(), "two pods named") {
		t.Errorf("the error is %v", err)
	}
}

func TestAnotherVersionIsRefused(t *testing.T) {
	text := fmt.Sprintf(`{"version": %d}`, formatVersion+1)
	if _, err := readProblem(strings.NewReader(text)); err == nil {
		t.Error("a version from the future was read")
	}
}

func TestSharesLoseNothing(t *testing.T) {
	one, err := workloadNamed("deployments")
	if err != nil {
		t.Fatal(err)
	}
	for _, pods := range []int{1, 29, 1500} {
		sum := 0
		for _, group := range one.generate(pods, 7).PodGroups {
			sum += group.Count
		}
		if sum != pods {
			t.Errorf("%d pods became %d", pods, sum)
		}
	}
}
