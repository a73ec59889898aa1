//! The end of instances.

use std::collections::HashMap;
use std::time::Instant;

use aws_sdk_ec2::types::{Instance as Described, InstanceStateName};
use kerf_engine::event::Failure;
use kerf_engine::observed::Name;
use kerf_kube::Ending;
use kerf_runtime::metrics::Labels;

use super::describe::describe;
use super::id_batches::IdCall;
use super::instance::{parse_provider_id, reservation, state};
use super::{CONSISTENT_AFTER, Instances};
use crate::provider::context::Context;
use crate::provider::filters::Filters;
use crate::provider::tags;
use crate::{AwsAction, CallError, Result};

/// How EC2 says that it knows no such instance.
const NOT_FOUND: [&str; 2] = ["InvalidInstanceID.NotFound", "InvalidInstanceID.Malformed"];

/// TerminateInstances.
#[derive(Clone, Debug)]
pub(crate) struct TerminateCall(pub(crate) Context);

impl IdCall for TerminateCall {
    type Answer = InstanceStateName;
    const NAME: &'static str = "terminate_instances";

    /// What EC2 does not report, and everything if it refuses the call for one of them, is asked
    /// for one by one.
    async fn call(&self, ids: Vec<String>) -> Result<HashMap<String, InstanceStateName>> {
        let mut ended = match self.terminate(&ids).await {
            Ok(ended) => ended,
            Err(error) if ids.len() > 1 && !error.is_transient() => HashMap::new(),
            Err(error) if is_unknown(&error) => return Ok(HashMap::new()),
            Err(error) => return Err(error),
        };
        if ids.len() > 1 {
            for id in ids.iter().filter(|id| !ended.contains_key(*id)).cloned().collect::<Vec<_>>()
            {
                match self.terminate(&[id]).await {
                    Ok(one) => ended.extend(one),
                    Err(error) if is_unknown(&error) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(ended)
    }
}

impl TerminateCall {
    async fn terminate(&self, ids: &[String]) -> Result<HashMap<String, InstanceStateName>> {
        let call = self.0.clients.ec2.terminate_instances().set_instance_ids(Some(ids.to_vec()));
        let resource = if let [id] = ids { id.as_str() } else { "instance/*" };
        let action = AwsAction::TerminateInstances;
        let answer = self.0.calls.make(action, resource, call.send()).await?;
        let changes = answer.terminating_instances().iter();
        let change = changes.filter_map(|it| {
            let state = it.current_state().and_then(|state| state.name())?;
            Some((it.instance_id()?.to_owned(), state.clone()))
        });
        Ok(change.collect())
    }
}

fn is_unknown(error: &CallError) -> bool {
    error.code().is_some_and(|code| NOT_FOUND.contains(&code))
}

impl Instances {
    /// Asks for the end of a claim's instance; without an id, of whatever was launched for it.
    ///
    /// # Errors
    /// EC2 gave no answer, or refused.
    pub(crate) async fn terminate(
        &self,
        claim: &Name,
        provider_id: Option<&str>,
    ) -> std::result::Result<Ending, Failure> {
        let ids = match provider_id {
            Some(provider_id) => match parse_provider_id(provider_id) {
                Some((_, id)) => vec![id.to_owned()],
                None => {
                    let message = format!("{provider_id} names no instance of EC2");
                    return Err(Failure::Invalid { message });
                }
            },
            None => self.launched_for(claim).await?,
        };
        let mut ending = Ending::Gone;
        for id in ids {
            match self.end(&id).await {
                Ok(Ending::Gone) => {}
                Ok(Ending::Begun) => ending = Ending::Begun,
                Err(error) => {
                    self.count_failure(provider_id);
                    return Err(error.into());
                }
            }
        }
        Ok(ending)
    }

    /// The ids of what was launched for a claim: as remembered here, or by EC2.
    async fn launched_for(&self, claim: &Name) -> std::result::Result<Vec<String>, Failure> {
        let uid = self.batches.ledger().uid_of(claim);
        if let Some(uid) = uid {
            match self.batches.known(&uid).await {
                Some(Ok(launched)) => return Ok(vec![launched.id.clone()]),
                Some(Err(doubt @ (Failure::Unavailable { .. } | Failure::Throttled { .. }))) => {
                    return Err(doubt);
                }
                Some(Err(_)) | None => {}
            }
        }
        let cluster = &self.context.cluster.name;
        let filters = Filters::default()
            .with(&format!("tag:{}", tags::NODE_CLAIM), claim)
            .with(&format!("tag:{}", tags::CLUSTER_NAME), cluster);
        let described = describe(&self.context, filters).await?;
        let is_there = |it: &&Described| state(it) != Some(&InstanceStateName::Terminated);
        let there = described.iter().filter(is_there);
        Ok(there.filter_map(|it| it.instance_id()).map(str::to_owned).collect())
    }

    /// Ends an instance, or finds that it has ended. One that EC2 does not describe may be too
    /// young for that.
    async fn end(&self, id: &str) -> Result<Ending> {
        let described = self.descriptions.ask(id).await?;
        match described.as_ref().map(state) {
            Some(Some(InstanceStateName::Terminated)) => {
                self.note_end(id, described.as_ref());
                return Ok(Ending::Gone);
            }
            Some(Some(InstanceStateName::ShuttingDown)) => return Ok(Ending::Begun),
            Some(_) => {}
            None if self.may_be_young(id) => {}
            None => {
                self.note_end(id, None);
                return Ok(Ending::Gone);
            }
        }
        match self.terminations.ask(id).await? {
            Some(InstanceStateName::Terminated) => {
                self.note_end(id, described.as_ref());
                Ok(Ending::Gone)
            }
            _ => Ok(Ending::Begun),
        }
    }

    /// Whether EC2 may not know an instance yet that it has launched. Of what another process has
    /// launched nobody knows when that was.
    fn may_be_young(&self, id: &str) -> bool {
        let launched_at = self.batches.ledger().instance(id).map(|it| it.at);
        let at = launched_at.unwrap_or(self.started_at);
        Instant::now().saturating_duration_since(at) < CONSISTENT_AFTER
    }

    /// Gives its place in a reservation back, once.
    pub(super) fn note_end(&self, id: &str, described: Option<&Described>) {
        let mut ledger = self.batches.ledger();
        let remembered = ledger.instance(id);
        if remembered.is_some_and(|it| it.is_gone) {
            return;
        }
        let launched_into = remembered.and_then(|it| it.instance.reservation.clone());
        let runs_in = described.and_then(reservation).map(str::to_owned);
        ledger.ended(id);
        drop(ledger);
        if let Some(reservation) = launched_into.or(runs_in) {
            self.reservations.ended(&reservation);
        }
    }

    fn count_failure(&self, provider_id: Option<&str>) {
        let zone = provider_id.and_then(parse_provider_id).map_or("", |(zone, _)| zone);
        let zone_id = self.context.zone_ids.of(zone).unwrap_or_default();
        let labels: Labels = vec![("zone", zone.to_owned()), ("zone_id", zone_id)];
        let metric = "karpenter_cloudprovider_instance_termination_failures_total";
        self.context.registry.count(metric, labels, 1);
    }
}
