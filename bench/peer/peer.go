package main

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	provisioning "sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/scheduling"
	"sigs.k8s.io/karpenter/pkg/test"
	"sigs.k8s.io/karpenter/pkg/utils/daemonset"
	"sigs.k8s.io/karpenter/pkg/utils/nodepool"
)

// peer is a problem as the peer's controller would hold it in memory when a batch of pods is complete.
type peer struct {
	ctx           context.Context
	store         *store
	cluster       *state.Cluster
	pools         []*karpv1.NodePool
	instanceTypes map[string][]*cloudprovider.InstanceType
	daemonPods    []*corev1.Pod
	pending       []*corev1.Pod
	options       []provisioning.Options
}

// newPeer observes the problem: what informers and the provider's caches have done before a batch.
func newPeer(from *problem, concurrency int) (*peer, error) {
	pending, bound, err := from.allPods()
	if err != nil {
		return nil, err
	}
	p := &peer{
		ctx:           options.ToContext(injection.WithControllerName(context.Background(), "provisioner"), test.Options()),
		store:         newStore(from, bound),
		pools:         slices.Clone(from.NodePools),
		instanceTypes: map[string][]*cloudprovider.InstanceType{},
		pending:       pending,
		options:       []provisioning.Options{provisioning.NumConcurrentReconciles(concurrency)},
	}
	nodepool.OrderByWeight(p.pools)
	var offered []*cloudprovider.InstanceType
	for i := range from.InstanceTypes {
		offered = append(offered, from.InstanceTypes[i].forPeer())
	}
	for _, pool := range p.pools {
		p.instanceTypes[pool.Name] = offered
	}
	for _, set := range from.DaemonSets {
		p.daemonPods = append(p.daemonPods, daemonset.PodForDaemonSet(set))
	}
	p.cluster = state.NewCluster(clock.RealClock{}, p.store, nil)
	for _, node := range from.Nodes {
		if err := p.cluster.UpdateNode(p.ctx, node.DeepCopy()); err != nil {
			return nil, fmt.Errorf("observing node %s: %w", node.Name, err)
		}
	}
	for _, pod := range bound {
		if err := p.cluster.UpdatePod(p.ctx, pod); err != nil {
			return nil, fmt.Errorf("observing pod %s: %w", podName(pod), err)
		}
	}
	return p, nil
}

// newScheduler does what the peer's provisioner does between the end of a batch and Solve: copy the nodes, look up
// volume zones, count topologies, construct.
func (p *peer) newScheduler() (*provisioning.Scheduler, error) {
	nodes := p.cluster.DeepCopyNodes().Active()
	volumeZones := map[types.UID][]scheduling.Requirements{}
	topologies := provisioning.NewVolumeTopology(p.store)
	for _, pod := range p.pending {
		if len(pod.Spec.Volumes) == 0 {
			continue
		}
		alternatives, err := topologies.GetRequirements(p.ctx, pod)
		if err != nil {
			return nil, fmt.Errorf("looking up the volumes of pod %s: %w", podName(pod), err)
		}
		if len(alternatives) > 0 {
			volumeZones[pod.UID] = alternatives
		}
	}
	topology, err := provisioning.NewTopology(
		p.ctx, p.store, p.cluster, nodes, p.pools, p.instanceTypes, p.pending, p.options...)
	if err != nil {
		return nil, fmt.Errorf("counting topologies: %w", err)
	}
	return provisioning.NewScheduler(
		p.ctx, p.store, p.pools, p.cluster, nodes, topology, p.instanceTypes, p.daemonPods,
		events.NewRecorder(&record.FakeRecorder{}), clock.RealClock{}, volumeZones, nil, p.options...), nil
}
