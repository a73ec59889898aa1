package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	kwokoptions "sigs.k8s.io/karpenter/kwok/options"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/fake"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// fakeTypeCount is how many types the reference's own scheduling benchmark uses.
const fakeTypeCount = 400

// Merely importing the two providers registers their labels with the core. The other tables are
// of the core's labels only, so everything is taken back before any of them is recorded.
func init() {
	v1.WellKnownLabels.Delete(
		fake.LabelInstanceSize, fake.ExoticInstanceLabelKey, fake.IntegerInstanceLabelKey,
		cloudprovider.ReservationIDLabel,
	)
	v1.WellKnownLabels.Delete(kwokLabels...)
	v1.RestrictedLabelDomains.Delete(kwokDomain)
	cloudprovider.ReservedCapacityLabels.Delete(cloudprovider.ReservationIDLabel)
	cloudprovider.ReservationIDLabel = ""
}

func kwokInstanceTypeSections() []section {
	options := kwokoptions.ToContext(context.Background(), &kwokoptions.Options{})
	types, err := kwok.ConstructInstanceTypes(options)
	if err != nil {
		panic(err)
	}
	var rows []any
	for _, t := range types {
		r := row{}.with("name", t.Name).with("requirements", requirementValues(t.Requirements))
		r = r.with("capacity", quantities(t.Capacity)).with("overhead", quantities(t.Overhead.Total()))
		r = r.with("allocatable", quantities(t.Allocatable()))
		offerings := []string{}
		for _, o := range t.Offerings {
			offerings = append(offerings, fmt.Sprintf(
				"%s %s %t %s", o.CapacityType(), o.Zone(), o.Available, decimal(o.Price),
			))
		}
		rows = append(rows, r.with("offerings", offerings))
	}
	return []section{{"rows", rows}}
}

// fakeInstanceTypeSections writes the file format of the kwok provider, with the full labels
// beside it: the format has no room for them.
func fakeInstanceTypeSections() []section {
	var rows []any
	for _, t := range fake.InstanceTypes(fakeTypeCount) {
		r := row{}.with("name", t.Name)
		r = r.with("architecture", t.Requirements.Get(corev1.LabelArchStable).Any())
		r = r.with("operatingSystems", requirementValues(t.Requirements)[corev1.LabelOSStable])
		r = r.with("resources", quantities(t.Capacity))
		offerings := []any{}
		for _, o := range t.Offerings {
			offerings = append(offerings, row{}.with("Price", o.Price).with("Available", o.Available).
				with("Requirements", []any{
					requirementIn(v1.CapacityTypeLabelKey, o.CapacityType()),
					requirementIn(corev1.LabelTopologyZone, o.Zone()),
				}))
		}
		r = r.with("offerings", offerings)
		rows = append(rows, r.with("requirements", requirementValues(t.Requirements)).
			with("allocatable", quantities(t.Allocatable())))
	}
	return []section{{"types", rows}}
}

func requirementIn(key, value string) row {
	return row{}.with("key", key).with("operator", "In").with("values", []string{value})
}

// requirementValues gives each label's values; all of the types' requirements are lists of values.
func requirementValues(requirements scheduling.Requirements) map[string][]string {
	values := map[string][]string{}
	for key, requirement := range requirements {
		if requirement.Operator() != corev1.NodeSelectorOpIn &&
			requirement.Operator() != corev1.NodeSelectorOpDoesNotExist {
			panic(fmt.Sprintf("%s is not a list of values", requirement))
		}
		values[key] = append([]string{}, requirement.Values()...)
		slices.Sort(values[key])
	}
	return values
}

// decimal writes a price with all the digits that tell it from its neighbours.
func decimal(price float64) string {
	return strings.TrimRight(fmt.Sprintf("%.15f", price), "0")
}

// quantities writes a resource list in canonical text.
func quantities(list corev1.ResourceList) map[string]string {
	texts := map[string]string{}
	for name, quantity := range list {
		texts[string(name)] = canonical(quantity)
	}
	return texts
}
