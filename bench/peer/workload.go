package main

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
)

// workload is a family of problems that grows with the number of pods.
type workload struct {
	name  string
	about string
	// sizes are the numbers of pods that `all` measures.
	sizes []int
	// quick is the number of pods for a first look.
	quick int
	build func(random *rand.Rand, pods int) *problem
}

// workloads lists every workload in the order of the README.
var workloads = []workload{
	{"mixed", "the peer's own benchmark: a fifth each plain, zone spread, hostname spread, zone affinity, " +
		"hostname anti-affinity; 400 fake types", []int{1000, 5000, 20000}, 500, mixed},
	{"preferences", "the peer's own benchmark of preferences: a node preference that can be met, a zone " +
		"anti-preference that cannot, a hostname anti-preference that can; 400 fake types", []int{4000}, 300, preferences},
	{"two-shapes", "half 900m/3100Mi, half 3500m/28Gi; on-demand linux kwok types", []int{1000}, 1000, twoShapes},
	{"tiny", "lognormal around 60m/150Mi; on-demand linux kwok types", []int{2000}, 500, tiny},
	{"memory-heavy", "6 to 11 GiB per CPU; on-demand linux kwok types", []int{2000}, 500, memoryHeavy},
	{"big", "around 6 CPU/20 GiB with a heavy tail; on-demand linux kwok types", []int{2000}, 300, bigPods},
	{"zones", "pinned to four zones and two architectures; on-demand linux kwok types", []int{2000}, 500, zones},
	{"gpu", "NVIDIA, Neuron and plain pods over a tainted and a plain pool; kwok types and 11 accelerated ones",
		[]int{600}, 200, gpu},
	{"many-small", "six shapes of 10m to 200m, where the pod count of a machine binds; linux kwok types, spot too",
		[]int{10000}, 1000, manySmall},
	{"few-huge", "24 to 180 CPU at 2 to 8 GiB per CPU; on-demand linux kwok types", []int{100}, 40, fewHuge},
	{"volumes", "most pods held in unevenly used zones by their volumes; on-demand linux kwok types",
		[]int{1000}, 200, volumes},
	{"deployments", "30 deployments spread over zones and hosts, a daemonset; on-demand amd64 kwok types",
		[]int{1500}, 300, deployments},
	{"existing", "1,000 nodes half full, a daemonset, pods that fill holes and pods that fit in none",
		[]int{2000}, 300, existing},
	{"sample", "every member of the problem file in a few lines, for tests of readers", []int{24}, 24, sample},
}

// workloadNamed finds a workload by its name.
func workloadNamed(name string) (workload, error) {
	for _, one := range workloads {
		if one.name == name {
			return one, nil
		}
	}
	return workload{}, fmt.Errorf("there is no workload named %q; `peer list` names them", name)
}

// generate builds the problem of this many pods. The same arguments give the same bytes.
func (w workload) generate(pods int, seed uint64) *problem {
	digest := fnv.New64a()
	digest.Write([]byte(w.name))
	built := w.build(rand.New(rand.NewPCG(seed, digest.Sum64())), pods)
	built.Version, built.Workload, built.Seed = formatVersion, w.name, seed
	return built
}
