//! CapacityBuffers.

use kerf_model::buffer as model;

use super::node_spec;
use crate::capacity_buffer::{
    ACTIVE_CAPACITY, CapacityBuffer, CapacityBufferSpec, LocalObjectRef, ScalableRef,
};
use crate::field_error::FieldError;
use crate::reader::Reader;

/// Reads a buffer.
///
/// # Errors
/// Every field that cannot be understood.
pub fn capacity_buffer_to_model(
    buffer: &CapacityBuffer,
) -> Result<model::CapacityBuffer, Vec<FieldError>> {
    let CapacityBufferSpec {
        limits,
        percentage,
        pod_template_ref,
        provisioning_strategy,
        replicas,
        scalable_ref,
    } = &buffer.spec;
    let mut reader = Reader::default();
    let limits = reader.resources("spec.limits", limits.as_ref());
    let replicas = read_count(&mut reader, "spec.replicas", *replicas);
    let percentage = read_count(&mut reader, "spec.percentage", *percentage);
    let shape = read_shape(&mut reader, pod_template_ref.as_ref(), scalable_ref.as_ref());
    let read = || {
        Some(model::CapacityBuffer {
            namespace: buffer.metadata.namespace.clone().unwrap_or_default(),
            name: buffer.metadata.name.clone().unwrap_or_default(),
            strategy: provisioning_strategy.clone().unwrap_or_else(|| ACTIVE_CAPACITY.to_owned()),
            shape: shape?,
            replicas: replicas?,
            percentage: percentage?,
            limits: limits?,
        })
    };
    let value = read();
    reader.finish(value)
}

/// Writes a buffer.
#[must_use]
pub fn capacity_buffer_from_model(buffer: &model::CapacityBuffer) -> CapacityBuffer {
    let model::CapacityBuffer { namespace, name, strategy, shape, replicas, percentage, limits } =
        buffer;
    let (pod_template_ref, scalable_ref) = match shape.clone() {
        None => (None, None),
        Some(model::BufferShape::PodTemplate { name }) => (Some(LocalObjectRef { name }), None),
        Some(model::BufferShape::Scalable { group, kind, name }) => {
            (None, Some(ScalableRef { api_group: group, kind, name }))
        }
    };
    let count = |count: u32| i32::try_from(count).unwrap_or(i32::MAX);
    let mut written = CapacityBuffer::new(
        name,
        CapacityBufferSpec {
            limits: node_spec::resources(limits),
            percentage: percentage.map(count),
            pod_template_ref,
            provisioning_strategy: Some(strategy.clone()),
            replicas: replicas.map(count),
            scalable_ref,
        },
    );
    written.metadata.namespace = (!namespace.is_empty()).then(|| namespace.clone());
    written
}

fn read_count(reader: &mut Reader, field: &str, number: Option<i32>) -> Option<Option<u32>> {
    match number {
        None => Some(None),
        Some(number) => reader.count(field, i64::from(number)).map(Some),
    }
}

fn read_shape(
    reader: &mut Reader,
    template: Option<&LocalObjectRef>,
    scalable: Option<&ScalableRef>,
) -> Option<Option<model::BufferShape>> {
    match (template, scalable) {
        (None, None) => Some(None),
        (Some(LocalObjectRef { name }), None) => {
            Some(Some(model::BufferShape::PodTemplate { name: name.clone() }))
        }
        (None, Some(ScalableRef { api_group, kind, name })) => {
            let (group, kind, name) = (api_group.clone(), kind.clone(), name.clone());
            Some(Some(model::BufferShape::Scalable { group, kind, name }))
        }
        (Some(_), Some(_)) => {
            reader.refuse("spec", "podTemplateRef and scalableRef exclude each other; keep one");
            None
        }
    }
}
