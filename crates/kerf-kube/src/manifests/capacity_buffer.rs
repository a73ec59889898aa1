//! CapacityBuffers: room kept free, as pods that have not come yet.

use k8s_openapi::api::core::v1::{PodSpec, PodTemplateSpec};
use kerf_api::FieldError;
use kerf_api::capacity_buffer::ACTIVE_CAPACITY;
use kerf_api::convert::capacity_buffer_to_model;
use kerf_model::buffer::{BufferShape, CapacityBuffer};
use kerf_model::resources::ResourceList;

use super::{Manifests, Sourced, SourcedError, sourced};
use crate::pod::{namespace_of, shape_from_template};
use crate::workload::{Owner, Workload};

const KIND: &str = "CapacityBuffer";
/// Every other pod comes before a piece of room.
const PRIORITY: i32 = i32::MIN;
/// The group of scalable objects that name none.
const GROUP_DEFAULT: &str = "apps";
/// The kinds of that group whose pods give room its shape.
const SCALABLE: [&str; 3] = ["Deployment", "ReplicaSet", "StatefulSet"];

/// What a buffer's pieces look like, and how many pods of that kind there are otherwise.
struct Pieces {
    template: PodTemplateSpec,
    scaled: i64,
}

impl Manifests {
    /// Adds the pods that buffers stand for, and says how many. To be asked once workloads have
    /// the number of pods their autoscalers keep them at.
    pub(super) fn keep_room(&mut self) -> (Vec<String>, Vec<SourcedError>) {
        let (mut notes, mut problems) = (Vec::new(), Vec::new());
        for Sourced { source, object } in std::mem::take(&mut self.buffers) {
            let read = capacity_buffer_to_model(&object).and_then(|mut buffer| {
                buffer.namespace = namespace_of(&object.metadata);
                let room = self.room(&buffer)?;
                Ok((buffer, room))
            });
            match read {
                Ok((buffer, Ok(room))) => {
                    let count = room.replicas;
                    let plural = if count == 1 { "pod" } else { "pods" };
                    let CapacityBuffer { namespace, name, .. } = &buffer;
                    notes.push(format!(
                        "{KIND} {namespace}/{name} keeps room for {count} {plural}; the controller \
                         does not keep it yet"
                    ));
                    self.workloads.push(Sourced { source, object: room });
                }
                Ok((buffer, Err(why))) => {
                    let CapacityBuffer { namespace, name, .. } = &buffer;
                    notes.push(format!("{KIND} {namespace}/{name} keeps no room: {why}"));
                }
                Err(found) => problems.extend(sourced(source, found)),
            }
        }
        (notes, problems)
    }

    /// The pods a buffer stands for, or why it stands for none.
    fn room(&self, buffer: &CapacityBuffer) -> Result<Result<Workload, String>, Vec<FieldError>> {
        if buffer.strategy != ACTIVE_CAPACITY {
            return Ok(Err(format!("its strategy {} is not known", buffer.strategy)));
        }
        let Pieces { mut template, scaled } = match self.pieces(buffer) {
            Ok(pieces) => pieces,
            Err(why) => return Ok(Err(why)),
        };
        strip(template.spec.get_or_insert_default());
        let shape = shape_from_template(&template, &buffer.namespace, Vec::new())?;
        let owner = Owner { kind: KIND.to_owned(), name: buffer.name.clone() };
        Ok(Ok(Workload {
            owner,
            namespace: buffer.namespace.clone(),
            controller: None,
            template,
            replicas: replicas(buffer, scaled, &shape.requests),
            name_prefix: format!("capacity-buffer-{}-", buffer.name),
            first_ordinal: 0,
            claim_templates: Vec::new(),
            selector: None,
            template_of: None,
            ended: None,
        }))
    }

    fn pieces(&self, buffer: &CapacityBuffer) -> Result<Pieces, String> {
        let namespace = &buffer.namespace;
        match &buffer.shape {
            None => Err("it says nothing about the shape of the pods".to_owned()),
            Some(BufferShape::PodTemplate { name }) => {
                let templates = self.pod_templates.iter().map(|it| &it.object);
                let named = templates.into_iter().find(|it| {
                    it.metadata.name.as_ref() == Some(name)
                        && namespace_of(&it.metadata) == *namespace
                });
                let template = named.and_then(|it| it.template.clone());
                let missing = || format!("PodTemplate {namespace}/{name} not given");
                Ok(Pieces { template: template.ok_or_else(missing)?, scaled: 0 })
            }
            Some(BufferShape::Scalable { group, kind, name }) => {
                let group = group.as_deref().filter(|group| !group.is_empty());
                if group.unwrap_or(GROUP_DEFAULT) != GROUP_DEFAULT
                    || !SCALABLE.contains(&kind.as_str())
                {
                    return Err(format!("{kind} is not one of {}", SCALABLE.join(", ")));
                }
                let owner = Owner { kind: kind.clone(), name: name.clone() };
                let named = self.workloads.iter().map(|it| &it.object);
                let named =
                    named.into_iter().find(|it| it.owner == owner && it.namespace == *namespace);
                let workload =
                    named.ok_or_else(|| format!("{kind} {namespace}/{name} not given"))?;
                Ok(Pieces { template: workload.template.clone(), scaled: workload.replicas })
            }
        }
    }
}

/// How many pieces: the larger of the number and the share, as far as the limits go; where neither
/// is given, what the limits hold.
fn replicas(buffer: &CapacityBuffer, scaled: i64, requests: &ResourceList) -> i64 {
    let share = buffer.percentage.map(|percent| {
        let scaled = i128::from(scaled.max(0));
        let share = (i128::from(percent) * scaled + 99) / 100;
        i64::try_from(share).unwrap_or(i64::MAX)
    });
    let asked = buffer.replicas.map(i64::from).max(share);
    let fits = buffer.limits.iter().filter_map(|(resource, limit)| {
        let request = requests.quantity(resource).nanos();
        (request > 0).then(|| limit.nanos().max(0) / request)
    });
    let held = fits.min().map(|count| i64::try_from(count).unwrap_or(i64::MAX));
    match (asked, held) {
        (Some(asked), Some(held)) => asked.min(held),
        (Some(count), None) | (None, Some(count)) => count,
        (None, None) => 0,
    }
}

/// Room has no volumes that are claimed, and no node of its own.
fn strip(spec: &mut PodSpec) {
    spec.priority = Some(PRIORITY);
    spec.priority_class_name = None;
    spec.node_name = None;
    if let Some(volumes) = &mut spec.volumes {
        volumes.retain(|it| it.persistent_volume_claim.is_none() && it.ephemeral.is_none());
    }
}

#[cfg(test)]
mod tests {
    use kerf_model::quantity::Quantity;

    use super::*;

    #[test]
    fn the_number_of_pieces_is_the_larger_of_number_and_share_within_the_limits() {
        let list = |cpu: Option<i64>| -> ResourceList {
            cpu.into_iter().map(|cpu| ("cpu", Quantity::from_int(cpu))).collect()
        };
        let table = [
            (Some(3), None, None, 10, 3),
            (None, Some(25), None, 10, 3),
            (Some(5), Some(25), None, 10, 5),
            (Some(1), Some(50), None, 10, 5),
            (None, Some(1), None, 3, 1),
            (None, Some(10), None, 0, 0),
            (Some(9), None, Some(7), 0, 3),
            (None, None, Some(7), 0, 3),
            (None, None, None, 10, 0),
        ];
        for (replicas_asked, percentage, limit, scaled, expected) in table {
            let buffer = CapacityBuffer {
                namespace: "default".to_owned(),
                name: "room".to_owned(),
                strategy: ACTIVE_CAPACITY.to_owned(),
                shape: None,
                replicas: replicas_asked,
                percentage,
                limits: list(limit),
            };
            let row = (replicas_asked, percentage, limit, scaled);
            assert_eq!(replicas(&buffer, scaled, &list(Some(2))), expected, "{row:?}");
        }
    }
}
