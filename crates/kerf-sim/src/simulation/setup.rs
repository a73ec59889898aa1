//! What stands before anything happens: the scenario's objects, and an engine that watches them.

use std::collections::BTreeSet;
use std::sync::Arc;

use kerf_engine::Settings;
use kerf_engine::event::Object;
use kerf_engine::observed::{Namespace, NodeClass, Pool, PoolStatus};
use kerf_journal::{JournaledEngine, MemoryJournal};
use kerf_model::labels::{LabelRules, aws, kwok};

use super::engines::HEARD_EVERY;
use super::{JUDGE_EVERY, Simulation};
use crate::cloud::provider;
use crate::replica::{Replica, ReplicaId};
use crate::sim_event::SimEvent;

impl Simulation {
    pub(super) fn set_up(&mut self) {
        let scenario = self.scenario.clone();
        let names = scenario.workloads.iter().map(|it| it.shape.namespace.as_str());
        let names: BTreeSet<&str> = names.chain(["default"]).collect();
        for name in names {
            let meta = self.store.new_meta(Arc::from(name));
            let labels = [("kubernetes.io/metadata.name".to_owned(), name.to_owned())].into();
            self.store.put(Object::Namespace(Namespace { meta, labels }));
        }
        let class = scenario.cloud.catalogue.node_class();
        let meta = self.store.new_meta(Arc::from(class.name.as_str()));
        self.store.put(Object::NodeClass(NodeClass::new(meta, class)));
        for pool in &scenario.pools {
            let meta = self.store.new_meta(Arc::from(pool.name.as_str()));
            self.store.put(Object::Pool(Pool {
                meta,
                spec: pool.clone(),
                annotations: Default::default(),
                faults: Vec::new(),
                status: PoolStatus::default(),
            }));
        }
        for workload in &scenario.workloads {
            self.workloads.add(workload, &mut self.store);
        }
        self.start_replica();
        self.queue.at(self.store.now + JUDGE_EVERY, SimEvent::Judge);
    }

    pub(super) fn start_replica(&mut self) {
        self.replicas_started += 1;
        let id = ReplicaId(self.replicas_started);
        let mut replica = Replica::new(id, self.settings(), self.is_journaled);
        replica.offer(&self.store, &self.cloud.instance_types, self.store.now);
        self.replicas.push(replica);
        self.queue.at(self.store.now + HEARD_EVERY, SimEvent::Heard(id));
    }

    /// Ends an engine, if it still runs; its journal is kept.
    pub(super) fn stop_replica(&mut self, id: ReplicaId) {
        let Some(index) = self.replicas.iter().position(|replica| replica.id == id) else { return };
        let replica = self.replicas.remove(index);
        self.journals.extend(replica.engine.sink().map(|journal| journal.text().to_owned()));
    }

    /// The journals of all engines there were, if they were asked for.
    #[must_use]
    pub fn journals(&self) -> Vec<&str> {
        let ended = self.journals.iter().map(String::as_str);
        let running = self.replicas.iter().filter_map(|replica| replica.engine.sink());
        ended.chain(running.map(MemoryJournal::text)).collect()
    }

    /// The engines with all they were told, and nothing else: for benches of what they hold.
    #[must_use]
    pub fn into_engines(self) -> Vec<JournaledEngine<MemoryJournal>> {
        self.replicas.into_iter().map(|replica| replica.engine).collect()
    }

    fn settings(&self) -> Settings {
        let class = self.scenario.cloud.catalogue.node_class();
        let provider = provider(class);
        let mut settings = Settings { provider, static_capacity: true, ..Settings::default() };
        settings.scheduler.label_rules = label_rules();
        settings
    }
}

/// Which labels may be used in the simulated cloud.
pub(super) fn label_rules() -> LabelRules {
    LabelRules::core().with(&aws::provider_labels()).with(&kwok::provider_labels())
}
