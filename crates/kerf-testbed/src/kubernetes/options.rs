//! Which parts a control plane has and how they are set.

use std::collections::{BTreeMap, BTreeSet};

use crate::kubernetes::access::User;

/// A program of the control plane.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Part {
    /// The store; always there.
    Etcd,
    /// The API server; always there.
    ApiServer,
    /// Makes pods from workloads, removes what is orphaned, marks lost nodes.
    ControllerManager,
    /// Binds pods to nodes.
    Scheduler,
    /// Plays the kubelet for nodes with the annotation `kwok.x-k8s.io/node: fake`.
    Kwok,
}

impl Part {
    /// The program's name, which is also the name of its log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::ApiServer => "kube-apiserver",
            Self::ControllerManager => "kube-controller-manager",
            Self::Scheduler => "kube-scheduler",
            Self::Kwok => "kwok",
        }
    }
}

/// What to start. Begin with one of the two sizes and add to it.
#[derive(Clone, Debug)]
pub struct Options {
    parts: BTreeSet<Part>,
    feature_gates: BTreeMap<String, bool>,
    flags: Vec<(Part, String)>,
    users: Vec<User>,
}

impl Options {
    /// Store and API server: enough for schemas, defaults, validation and RBAC, and up soonest.
    pub fn api_server() -> Self {
        Self {
            parts: BTreeSet::from([Part::Etcd, Part::ApiServer]),
            feature_gates: BTreeMap::new(),
            flags: Vec::new(),
            users: Vec::new(),
        }
    }

    /// The whole control plane, with kwok: nodes become ready, pods are bound and run.
    pub fn simulated_cluster() -> Self {
        Self::api_server().with(Part::ControllerManager).with(Part::Scheduler).with(Part::Kwok)
    }

    /// Adds a part.
    #[must_use]
    pub fn with(mut self, part: Part) -> Self {
        self.parts.insert(part);
        self
    }

    /// Turns a Kubernetes feature gate on or off, in every program that has gates.
    #[must_use]
    pub fn feature_gate(mut self, name: impl Into<String>, on: bool) -> Self {
        self.feature_gates.insert(name.into(), on);
        self
    }

    /// Gives a part one more flag, after those the testbed sets: for most flags the last one holds.
    #[must_use]
    pub fn flag(mut self, part: Part, flag: impl Into<String>) -> Self {
        self.flags.push((part, flag.into()));
        self
    }

    /// Lets one more user in. What they may do is up to the RBAC objects the test creates.
    #[must_use]
    pub fn user(mut self, user: User) -> Self {
        self.users.push(user);
        self
    }

    /// The parts to start, in the order they depend on each other.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Part> + '_ {
        self.parts.iter().copied()
    }

    pub(crate) fn users(&self) -> &[User] {
        &self.users
    }

    /// The flags of the test's own for one part: gates, then single flags.
    pub(crate) fn flags_of(&self, part: Part) -> Vec<String> {
        let has_gates = matches!(part, Part::ApiServer | Part::ControllerManager | Part::Scheduler);
        let gates: Vec<String> =
            self.feature_gates.iter().map(|(name, on)| format!("{name}={on}")).collect();
        let gates = (has_gates && !gates.is_empty())
            .then(|| format!("--feature-gates={}", gates.join(",")));
        let single = self.flags.iter().filter(|(of, _)| *of == part).map(|(_, flag)| flag.clone());
        gates.into_iter().chain(single).collect()
    }
}
