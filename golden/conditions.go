package main

import (
	"math/rand"
	"time"

	"github.com/awslabs/operatorpkg/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// conditionCreated is the creation time of every recorded object.
const conditionCreated = 1_735_689_600

// step is one call. "init" only materialises what is missing; "generation" and "delete" change the
// object itself.
type step struct {
	At      int64  `json:"at"`
	Op      string `json:"op"`
	Type    string `json:"type,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

func conditionSections() []section {
	var rows []any
	for _, steps := range conditionStories() {
		rows = append(rows, conditionRow(steps))
	}
	r := random("conditions")
	for range 160 {
		rows = append(rows, conditionRow(randomSteps(r)))
	}
	return []section{{"rows", rows}}
}

func conditionRow(steps []step) row {
	claim := &v1.NodeClaim{}
	claim.Generation = 1
	claim.CreationTimestamp = metav1.NewTime(time.Unix(conditionCreated, 0).UTC())
	outcomes := []any{}
	for _, s := range steps {
		outcomes = append(outcomes, runStep(claim, s))
	}
	after := []any{}
	for _, c := range claim.Status.Conditions {
		after = append(after, row{}.with("type", c.Type).with("status", string(c.Status)).
			with("observedGeneration", c.ObservedGeneration).
			with("lastTransitionTime", c.LastTransitionTime.Unix()).
			with("reason", c.Reason).with("message", c.Message))
	}
	return row{}.with("created", conditionCreated).with("steps", steps).with("outcomes", outcomes).
		with("after", after)
}

// runStep returns whether the call says it changed something, or that it refuses.
func runStep(claim *v1.NodeClaim, s step) any {
	now := time.Unix(s.At, 0).UTC()
	switch s.Op {
	case "generation":
		claim.Generation++
		return nil
	case "delete":
		deleted := metav1.NewTime(now)
		claim.DeletionTimestamp = &deleted
		return nil
	}
	conditions := claim.StatusConditions(status.WithClock(clocktesting.NewFakeClock(now)))
	switch s.Op {
	case "init":
		return nil
	case "true":
		if s.Reason == "" {
			return conditions.SetTrue(s.Type)
		}
		return conditions.SetTrueWithReason(s.Type, s.Reason, s.Message)
	case "false":
		return conditions.SetFalse(s.Type, s.Reason, s.Message)
	case "unknown":
		if s.Reason == "" {
			return conditions.SetUnknown(s.Type)
		}
		return conditions.SetUnknownWithReason(s.Type, s.Reason, s.Message)
	case "clear":
		if err := conditions.Clear(s.Type); err != nil {
			return "refused"
		}
		return nil
	}
	panic("unknown step " + s.Op)
}

// at is a time some minutes after creation.
func at(minute int64) int64 { return conditionCreated + 60*minute }

// onceReady is the usual start of a story.
func onceReady(more ...step) []step {
	return append([]step{
		{at(1), "true", "Launched", "", ""}, {at(2), "true", "Registered", "", ""},
		{at(3), "true", "Initialized", "", ""},
	}, more...)
}

func conditionStories() [][]step {
	ready := onceReady()
	stories := [][]step{
		{{at(0), "init", "", "", ""}},
		{{at(5), "init", "", "", ""}, {at(6), "init", "", "", ""}},
		ready[:1], ready[:2], ready,
		{
			{at(1), "unknown", "Launched", "LaunchFailed", "no capacity"},
			{at(2), "unknown", "Launched", "LaunchFailed", "no money"},
		},
		{{at(1), "false", "Registered", "MultipleNodesFound", "two"}},
		{
			{at(1), "false", "Registered", "MultipleNodesFound", "two"},
			{at(2), "true", "Launched", "", ""},
		},
		{
			{at(3), "true", "Launched", "", ""}, {at(1), "true", "Registered", "", ""},
			{at(2), "true", "Initialized", "", ""},
		},
		{
			{at(1), "true", "Drifted", "A", "a"}, {at(1), "true", "Consolidatable", "", ""},
			{at(1), "true", "Launched", "", ""}, {at(1), "true", "Drained", "", ""},
		},
	}
	return append(append(stories, readyStories()...), generationStories()...)
}

// readyStories set and clear conditions of a ready object.
func readyStories() [][]step {
	consolidatable := step{at(4), "true", "Consolidatable", "", ""}
	return [][]step{
		onceReady(consolidatable),
		onceReady(step{at(4), "true", "Drifted", "NodePoolDrifted", "NodePoolDrifted"}),
		onceReady(consolidatable, step{at(5), "clear", "Consolidatable", "", ""}),
		onceReady(
			consolidatable, step{at(5), "clear", "Consolidatable", "", ""},
			step{at(6), "true", "Drifted", "A", "a"},
		),
		onceReady(consolidatable, step{at(5), "clear", "Drifted", "", ""}),
		onceReady(step{at(4), "clear", "Launched", "", ""}),
		onceReady(step{at(4), "clear", "Ready", "", ""}),
		onceReady(
			step{at(4), "false", "Initialized", "Gone", "m"},
			step{at(5), "true", "Initialized", "", ""},
		),
		onceReady(step{at(4), "true", "Launched", "", ""}),
		onceReady(step{at(4), "true", "Launched", "Other", ""}),
		onceReady(step{at(4), "true", "Ready", "Forced", "by hand"}),
		onceReady(
			step{at(4), "false", "Ready", "Forced", "by hand"},
			step{at(5), "true", "Drifted", "X", ""},
		),
		onceReady(step{at(4), "false", "ConsistentStateFound", "ConsistencyCheckFailed", "m"}),
	}
}

// generationStories change the object under its conditions, or delete it.
func generationStories() [][]step {
	changed := step{at(4), "generation", "", "", ""}
	return [][]step{
		onceReady(changed, step{at(5), "init", "", "", ""}),
		onceReady(changed, step{at(5), "true", "Launched", "", ""}),
		onceReady(changed, step{at(5), "true", "Drifted", "X", ""}),
		onceReady(
			changed, step{at(5), "true", "Launched", "", ""},
			step{at(6), "true", "Registered", "", ""}, step{at(7), "true", "Initialized", "", ""},
		),
		onceReady(
			changed, step{at(5), "delete", "", "", ""},
			step{at(6), "unknown", "Drained", "Draining", "3 pods"},
		),
		onceReady(
			step{at(4), "delete", "", "", ""}, step{at(5), "unknown", "Drained", "Draining", ""},
			step{at(6), "true", "Drained", "", ""}, step{at(7), "true", "VolumesDetached", "", ""},
			step{at(8), "true", "InstanceTerminating", "", ""},
		),
	}
}

func randomSteps(r *rand.Rand) []step {
	types := []string{
		"Launched", "Registered", "Initialized", "Consolidatable", "Drifted", "Drained", "Ready",
	}
	now := int64(conditionCreated)
	var steps []step
	for range 1 + r.Intn(7) {
		now += int64(r.Intn(3)) * 30
		s := step{
			At: now,
			Op: pick(
				r,
				[]string{
					"true", "true", "true", "false", "unknown", "clear", "generation", "delete",
					"init",
				},
			),
		}
		switch s.Op {
		case "true", "unknown":
			s.Type = pick(r, types[:6])
			if r.Intn(3) == 0 {
				s.Reason, s.Message = pick(r, []string{"A", "B"}), pick(r, []string{"", "why"})
			}
		case "false":
			s.Type, s.Reason, s.Message = pick(r, types[:6]), pick(r, []string{"A", "B"}), pick(
				r, []string{"", "why"},
			)
		case "clear":
			s.Type = pick(r, types)
		}
		steps = append(steps, s)
	}
	return steps
}
