//! The problem and its answer, read once: requirements ready to compare, and who stands where.

use kerf_model::instance_type::InstanceType;
use kerf_model::labels::{node_class_key, well_known};
use kerf_model::pod::PodShape;
use kerf_model::requirement::{Operator, Requirement, RequirementEntry};
use kerf_model::requirements::{PodPlacement, Requirements};
use kerf_model::vocabulary::{KeySet, Vocabulary};
use kerf_scheduler::{PlacementProblem, PoolWithTypes, Solution};

/// Everything the rules look at.
pub(crate) struct Facts<'a> {
    pub(crate) problem: &'a PlacementProblem,
    pub(crate) solution: &'a Solution,
    pub(crate) vocabulary: Vocabulary,
    /// Keys a new node may leave open.
    pub(crate) well_known: KeySet,
    /// For each pod, what one of must hold.
    pub(crate) pods: Vec<Alternatives>,
    /// For each pod and each of its volumes, what one of must hold.
    pub(crate) volumes: Vec<Vec<Alternatives>>,
    /// For each daemon set, what one of must hold.
    pub(crate) daemons: Vec<Alternatives>,
    /// For each node that exists, its labels.
    pub(crate) nodes: Vec<Requirements>,
    /// For each pool, what its nodes are.
    pub(crate) pools: Vec<PoolFacts>,
    /// For each new node, what it says of its labels.
    pub(crate) own_requirements: Vec<Requirements>,
    /// For each new node, what it and its pool say of its labels.
    pub(crate) new_nodes: Vec<Requirements>,
    /// Every pod with a place: those that run and those that are to.
    pub(crate) placed: Vec<PlacedPod<'a>>,
}

/// Requirements of which one must hold.
pub(crate) type Alternatives = Vec<Requirements>;

/// What a pool offers.
pub(crate) struct PoolFacts {
    /// Requirements and labels of its template, those that Kerf adds too.
    pub(crate) template: Requirements,
    /// Its instance types, in order.
    pub(crate) types: Vec<TypeFacts>,
}

/// What an instance type offers.
pub(crate) struct TypeFacts {
    pub(crate) requirements: Requirements,
    /// Its offerings, in order.
    pub(crate) offerings: Vec<Requirements>,
}

/// A pod with a place.
#[derive(Clone, Copy)]
pub(crate) struct PlacedPod<'a> {
    pub(crate) name: &'a str,
    pub(crate) shape: &'a PodShape,
    pub(crate) place: Place,
    /// Its index in the problem; none for a pod that runs already.
    pub(crate) pod: Option<usize>,
}

/// Where a pod stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// On a node that exists.
    Existing(usize),
    /// On a node to add.
    New(usize),
}

impl<'a> Facts<'a> {
    /// Reads both; every index in the answer must be known to exist.
    pub(crate) fn read(problem: &'a PlacementProblem, solution: &'a Solution) -> Self {
        let mut reader = Reader { problem, vocabulary: Vocabulary::new() };
        let pods = problem.pods.iter().map(|pod| reader.placement(&pod.shape.placement)).collect();
        let volumes = problem.pods.iter().map(|pod| reader.volumes(&pod.shape)).collect();
        let daemons = problem.daemons.iter().map(|each| reader.placement(&each.placement));
        let daemons = daemons.collect();
        let nodes = problem.nodes.iter().map(|node| reader.labels(&node.labels)).collect();
        let pools: Vec<_> = problem.pools.iter().map(|pool| reader.pool(pool)).collect();
        let own = solution.new_nodes.iter().map(|node| reader.entries(&node.requirements));
        let own_requirements: Vec<_> = own.collect();
        let mut new_nodes = own_requirements.clone();
        for (requirements, node) in new_nodes.iter_mut().zip(&solution.new_nodes) {
            requirements.narrow(&pools[node.pool].template, &reader.vocabulary);
        }
        let well_known = problem.settings.label_rules.well_known_ids(&mut reader.vocabulary);
        let (vocabulary, placed) = (reader.vocabulary, placed(problem, solution));
        Self {
            problem,
            solution,
            vocabulary,
            well_known,
            pods,
            volumes,
            daemons,
            nodes,
            pools,
            own_requirements,
            new_nodes,
            placed,
        }
    }

    /// The pods that the answer gives a place, with their index in the problem.
    pub(crate) fn placed(&self) -> impl Iterator<Item = (usize, PlacedPod<'a>)> {
        self.placed.iter().filter_map(|each| Some((each.pod?, *each)))
    }

    /// How sentences name a place.
    pub(crate) fn place_name(&self, place: Place) -> String {
        match place {
            Place::Existing(node) => format!("node {}", self.problem.nodes[node].name),
            Place::New(node) => {
                let pool = &self.problem.pools[self.solution.new_nodes[node].pool].pool.name;
                format!("new node {node} of pool {pool}")
            }
        }
    }

    /// How sentences name a pod of the problem.
    pub(crate) fn pod_name(&self, pod: usize) -> String {
        let pod = &self.problem.pods[pod];
        format!("pod {}/{}", pod.shape.namespace, pod.name)
    }
}

fn placed<'a>(problem: &'a PlacementProblem, solution: &'a Solution) -> Vec<PlacedPod<'a>> {
    let mut placed = Vec::new();
    for (index, node) in problem.nodes.iter().enumerate() {
        for bound in node.pods.iter().filter(|bound| !bound.is_leaving) {
            let (name, shape) = (bound.pod.name.as_str(), &*bound.pod.shape);
            placed.push(PlacedPod { name, shape, place: Place::Existing(index), pod: None });
        }
    }
    let existing = solution.existing.iter().map(|each| (Place::Existing(each.node), &each.pods));
    let new = solution.new_nodes.iter().enumerate();
    let new = new.map(|(index, node)| (Place::New(index), &node.pods));
    for (place, pods) in existing.chain(new) {
        for &index in pods {
            let pod = &problem.pods[index];
            placed.push(PlacedPod { name: &pod.name, shape: &pod.shape, place, pod: Some(index) });
        }
    }
    placed
}

struct Reader<'a> {
    problem: &'a PlacementProblem,
    vocabulary: Vocabulary,
}

impl Reader<'_> {
    /// Selector and each required term, or the selector alone. What can never hold is left out.
    fn placement(&mut self, placement: &PodPlacement) -> Alternatives {
        let selector = placement.node_selector.iter();
        let selector =
            selector.map(|(key, value)| RequirementEntry::new(key, Operator::In, [value.as_str()]));
        let selector: Vec<_> = selector.collect();
        let terms = &placement.node_affinity.required;
        if terms.is_empty() {
            return self.conjunction(&selector).into_iter().collect();
        }
        terms.iter().filter_map(|term| self.conjunction(selector.iter().chain(term))).collect()
    }

    fn volumes(&mut self, shape: &PodShape) -> Vec<Alternatives> {
        let mut volumes = Vec::new();
        for volume in shape.volumes.iter().filter(|volume| !volume.reachable_from.is_empty()) {
            let terms = volume.reachable_from.iter();
            volumes.push(terms.filter_map(|term| self.conjunction(term)).collect());
        }
        volumes
    }

    /// All entries together, unless they contradict each other or one means nothing.
    ///
    /// Merged, a contradiction would look like `DoesNotExist`, which a node without the label
    /// satisfies; so it has to be seen before merging.
    fn conjunction<'b>(
        &mut self,
        entries: impl IntoIterator<Item = &'b RequirementEntry>,
    ) -> Option<Requirements> {
        let normalization = self.problem.settings.label_rules.normalization();
        let mut parts = Vec::new();
        for entry in entries {
            parts.push(entry.intern(normalization, &mut self.vocabulary).ok()?);
        }
        let mut merged = Requirements::new();
        parts.iter().for_each(|part| merged.add(part.clone(), &self.vocabulary));
        let contradicted =
            |part: &Requirement| !part.is_negative() && merged.get(part.key()).is_empty();
        let possible = !parts.iter().any(contradicted);
        possible.then_some(merged)
    }

    fn labels<'b>(
        &mut self,
        labels: impl IntoIterator<Item = (&'b String, &'b String)>,
    ) -> Requirements {
        let labels = labels.into_iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let normalization = self.problem.settings.label_rules.normalization();
        Requirements::from_labels(labels, normalization, &mut self.vocabulary)
    }

    /// All entries; one that means nothing allows nothing.
    fn entries<'b>(
        &mut self,
        entries: impl IntoIterator<Item = &'b RequirementEntry>,
    ) -> Requirements {
        let normalization = self.problem.settings.label_rules.normalization();
        let mut requirements = Requirements::new();
        for entry in entries {
            let read = entry.intern(normalization, &mut self.vocabulary);
            let key = self.vocabulary.key(normalization.key(&entry.key));
            requirements.add(read.unwrap_or_else(|_| Requirement::absent(key)), &self.vocabulary);
        }
        requirements
    }

    fn pool(&mut self, pool: &PoolWithTypes) -> PoolFacts {
        let template = &pool.pool.template;
        let class = &template.spec.node_class;
        let class_key = node_class_key(&class.group, &class.kind);
        let own = [
            (well_known::NODE_POOL, pool.pool.name.as_str()),
            (&class_key, class.name.as_str()),
            (well_known::REGISTERED, "true"),
            (well_known::INITIALIZED, "true"),
        ];
        let own = own.map(|(key, value)| RequirementEntry::new(key, Operator::In, [value]));
        let mut requirements = self.entries(template.spec.requirements.iter().chain(&own));
        requirements.narrow(&self.labels(&template.labels), &self.vocabulary);
        let types = pool.instance_types.iter().map(|each| self.instance_type(each)).collect();
        PoolFacts { template: requirements, types }
    }

    fn instance_type(&mut self, instance_type: &InstanceType) -> TypeFacts {
        let offerings = instance_type.offerings.iter();
        let offerings = offerings.map(|offering| self.entries(&*offering.requirements)).collect();
        TypeFacts { requirements: self.entries(&*instance_type.requirements), offerings }
    }
}
