package main

import (
	"context"
	"os"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	kwokoptions "sigs.k8s.io/karpenter/kwok/options"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/fake"
	"sigs.k8s.io/karpenter/pkg/utils/resources"
)

// measuredPods keeps the workloads small enough for a test.
const measuredPods = 60

func measureOnce(t *testing.T, given *problem) *result {
	t.Helper()
	measured, err := measure(given, settings{concurrency: concurrencyDefault})
	if err != nil {
		t.Fatal(err)
	}
	return measured
}

func TestEveryPodIsPlacedOnceOrNamedAsUnschedulable(t *testing.T) {
	for _, one := range workloads {
		given := one.generate(measuredPods, 7)
		pending, _, err := given.allPods()
		if err != nil {
			t.Fatal(err)
		}
		measured := measureOnce(t, given)
		times := map[string]int{}
		for _, node := range measured.NewNodes {
			countNames(times, node.Pods)
		}
		for _, node := range measured.ExistingNodes {
			countNames(times, node.Pods)
		}
		for _, left := range measured.Unschedulable {
			times[left.Pod]++
		}
		for _, pod := range pending {
			if times[podName(pod)] != 1 {
				t.Errorf("%s: pod %s is in the result %d times", one.name, podName(pod), times[podName(pod)])
			}
		}
		if len(times) != len(pending) {
			t.Errorf("%s: the result names %d pods instead of %d", one.name, len(times), len(pending))
		}
		if one.name != "sample" && len(measured.Unschedulable) > 0 {
			t.Errorf("%s: the peer leaves out %d pods", one.name, len(measured.Unschedulable))
		}
	}
}

func countNames(times map[string]int, names []string) {
	for _, name := range names {
		times[name]++
	}
}

func TestTheMachineThatIsPricedHoldsItsPods(t *testing.T) {
	for _, one := range workloads {
		given := one.generate(measuredPods, 7)
		pending, _, err := given.allPods()
		if err != nil {
			t.Fatal(err)
		}
		byName := map[string]*corev1.Pod{}
		for _, pod := range pending {
			byName[podName(pod)] = pod
		}
		for _, node := range measureOnce(t, given).NewNodes {
			var pods []*corev1.Pod
			for _, name := range node.Pods {
				pods = append(pods, byName[name])
			}
			machine := given.typeNamed(node.InstanceType)
			room := resources.Subtract(machine.Resources, machine.Overhead)
			if !resources.Fits(resources.RequestsForPods(pods...), room) {
				t.Errorf("%s: %d pods do not fit on %s", one.name, len(pods), machine.Name)
			}
		}
	}
}

func TestTheLeftoverOfTheSampleHasAReason(t *testing.T) {
	one, err := workloadNamed("sample")
	if err != nil {
		t.Fatal(err)
	}
	left := measureOnce(t, one.generate(one.sizes[0], seedDefault)).Unschedulable
	if len(left) != 1 || !strings.HasPrefix(left[0].Pod, "default/too-large-") || left[0].Reason == "" {
		t.Errorf("left over: %v", left)
	}
}

func TestADescribedTypeTurnsBackIntoThePeersOwn(t *testing.T) {
	ctx := kwokoptions.ToContext(context.Background(), &kwokoptions.Options{})
	types, err := kwok.ConstructInstanceTypes(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(types) != 144 {
		t.Errorf("the kwok provider has %d types", len(types))
	}
	for _, own := range append(types, fake.InstanceTypes(fakeTypeCount)...) {
		described := describe(own)
		back := described.forPeer()
		if !reflect.DeepEqual(own.Requirements, back.Requirements) {
			t.Errorf("%s: labels %v became %v", own.Name, own.Requirements, back.Requirements)
		}
		if !resources.Fits(own.Allocatable(), back.Allocatable()) || !resources.Fits(back.Allocatable(), own.Allocatable()) {
			t.Errorf("%s: room %v became %v", own.Name, own.Allocatable(), back.Allocatable())
		}
		if !reflect.DeepEqual(plain(own.Offerings), plain(back.Offerings)) {
			t.Errorf("%s: the offerings changed", own.Name)
		}
	}
}

// plain leaves out what an offering only caches.
func plain(from cloudprovider.Offerings) []offering {
	var offerings []offering
	for _, one := range from {
		offerings = append(offerings, offering{
			Price: one.Price, Available: one.Available, ReservationCapacity: one.ReservationCapacity,
			Requirements: describeRequirements(one.Requirements),
		})
	}
	return offerings
}

func TestPricesAreRoundedToTheNearestMicroDollarHalvesUp(t *testing.T) {
	for dollars, expected := range map[float64]uint64{
		0: 0, 0.0000004: 0, 0.0000005: 1, 0.0000015: 2, 0.019003238553599998: 19003, 8.599023255552: 8599023, 12: 12000000,
	} {
		if got := micros(dollars); got != expected {
			t.Errorf("%v dollars are %d micro-dollars instead of %d", dollars, got, expected)
		}
	}
}

func TestTheReferenceIsTheOneInGoMod(t *testing.T) {
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\t"+reference+"\n") {
		t.Errorf("go.mod does not name %s", reference)
	}
}
