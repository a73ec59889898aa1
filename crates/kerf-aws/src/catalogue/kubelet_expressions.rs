//! Settings of the kubelet that a class computes for each instance type, by expressions in CEL.
//!
//! An expression sees `vcpus`, `memory_mib`, `default_enis`, `ips_per_eni`, `max_pods` and
//! `instance_type`, and gives a number. Lists and maps are refused: without them there is nothing
//! to repeat anything over, so that the work is bounded by the length of the text.

use std::collections::BTreeMap;

use kerf_api::ec2_node_class::{Kubelet, MaxPods};
use kerf_catalog::capacity::pods;
use kerf_catalog::settings::NodeClassSettings;
use kerf_catalog::shape::Shape;
use kerf_model::quantity::Quantity;
use kerf_model::resources::{CPU, EPHEMERAL_STORAGE, MEMORY};
use kube_cel::cel::{Context, ExecutionError, Program, Value};
use thiserror::Error;

/// Longer expressions are refused; those in use have some dozens of characters.
const LENGTH_MAX: usize = 1_000;
/// What begins a list, a map or a message.
const COLLECTIONS: [char; 2] = ['[', '{'];
/// Millicores are rounded up to a multiple of this.
const CPU_STEP_MILLI: i64 = 10;
/// And mebibytes to a multiple of this.
const MEMORY_STEP_MIB: i64 = 16;

/// The expressions of a class.
#[derive(Debug)]
pub(crate) struct KubeletExpressions {
    max_pods: Option<Expression>,
    kube_reserved: Vec<Reserved>,
    system_reserved: Vec<Reserved>,
}

/// What of a resource is reserved.
#[derive(Debug)]
struct Reserved {
    resource: String,
    amount: Expression,
}

#[derive(Debug)]
struct Expression {
    /// The field it stands in.
    field: String,
    program: Program,
}

/// Why an expression is of no use. The class must change.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum ExpressionError {
    /// It is no expression that gives a number.
    #[error("{field} is neither an amount nor an expression that gives a number: {why}")]
    Invalid {
        /// The field.
        field: String,
        /// What is wrong.
        why: String,
    },
    /// It gives no usable number for a type.
    #[error("{field} cannot be computed for {instance_type}: {why}")]
    Failed {
        /// The field.
        field: String,
        /// The type.
        instance_type: String,
        /// What is wrong.
        why: String,
    },
}

impl KubeletExpressions {
    /// The expressions among the settings, if there are any.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub(crate) fn of(kubelet: &Kubelet) -> Result<Option<Self>, ExpressionError> {
        let max_pods = match &kubelet.max_pods {
            Some(MaxPods::Expression(text)) => {
                Some(Expression::read("spec.kubelet.maxPods".to_owned(), text)?)
            }
            Some(MaxPods::Count(_)) | None => None,
        };
        let kube_reserved = reserved("kubeReserved", kubelet.kube_reserved.as_ref())?;
        let system_reserved = reserved("systemReserved", kubelet.system_reserved.as_ref())?;
        let all = Self { max_pods, kube_reserved, system_reserved };
        Ok((!all.is_empty()).then_some(all))
    }

    fn is_empty(&self) -> bool {
        self.max_pods.is_none() && self.kube_reserved.is_empty() && self.system_reserved.is_empty()
    }

    /// The settings with everything computed for a type, and what could not be: that is left to
    /// its default.
    pub(crate) fn settings_for(
        &self,
        shape: &Shape,
        settings: &NodeClassSettings,
    ) -> (NodeClassSettings, Vec<ExpressionError>) {
        let (mut computed, mut errors) = (settings.clone(), Vec::new());
        if let Some(expression) = &self.max_pods {
            let mut plain = settings.clone();
            (plain.kubelet.max_pods, plain.kubelet.pods_per_core) = (None, 0);
            let default = pods(shape, &plain);
            match expression
                .evaluate(shape, default)
                .and_then(|value| fits(expression, shape, value))
            {
                Ok(count) => computed.kubelet.max_pods = Some(count),
                Err(error) => errors.push(error),
            }
        }
        let max_pods = pods(shape, &computed);
        let kubelet = &mut computed.kubelet;
        for (list, reserved) in [
            (&mut kubelet.kube_reserved, &self.kube_reserved),
            (&mut kubelet.system_reserved, &self.system_reserved),
        ] {
            for Reserved { resource, amount } in reserved {
                match amount.evaluate(shape, max_pods) {
                    Ok(value) => drop(list.insert(resource.as_str(), quantity(resource, value))),
                    Err(error) => errors.push(error),
                }
            }
        }
        (computed, errors)
    }
}

fn reserved(
    field: &str,
    amounts: Option<&BTreeMap<String, String>>,
) -> Result<Vec<Reserved>, ExpressionError> {
    let expressions = amounts.into_iter().flatten();
    let expressions = expressions.filter(|(_, text)| Quantity::parse(text).is_err());
    let read = |(resource, text): (&String, &String)| {
        let amount = Expression::read(format!("spec.kubelet.{field}[{resource}]"), text)?;
        Ok(Reserved { resource: resource.clone(), amount })
    };
    expressions.map(read).collect()
}

/// The kubelet counts pods in 32 bits.
fn fits(expression: &Expression, shape: &Shape, value: i64) -> Result<u32, ExpressionError> {
    let count = i32::try_from(value).ok().and_then(|value| u32::try_from(value).ok());
    count.ok_or_else(|| expression.failed(shape, format!("{value} pods are too many")))
}

/// A number in the unit of its resource.
fn quantity(resource: &str, value: i64) -> Quantity {
    let up_to = |step: i64| value.checked_add(step - 1).map_or(value, |more| more / step * step);
    let bytes = |value: i64, unit: i64| Quantity::from_bytes(value.saturating_mul(unit));
    match resource {
        CPU => Quantity::from_milli(up_to(CPU_STEP_MILLI)),
        MEMORY => bytes(up_to(MEMORY_STEP_MIB), 1 << 20),
        EPHEMERAL_STORAGE => bytes(value, 1 << 30),
        _ => Quantity::from_int(value),
    }
}

impl Expression {
    fn read(field: String, text: &str) -> Result<Self, ExpressionError> {
        let invalid = |why: String| ExpressionError::Invalid { field: field.clone(), why };
        if text.len() > LENGTH_MAX {
            return Err(invalid(format!("it is longer than {LENGTH_MAX} characters")));
        }
        if text.contains(COLLECTIONS) {
            return Err(invalid("lists and maps cannot be used here".to_owned()));
        }
        let program = Program::compile(text).map_err(|error| invalid(error.to_string()))?;
        let expression = Self { field: field.clone(), program };
        // The types of an expression do not depend on the instance type.
        match expression.run("m5.large", [2, 8_192, 3, 10, 29]) {
            Ok(Value::Int(_) | Value::UInt(_) | Value::Float(_)) => Ok(expression),
            Ok(_) => Err(invalid("it does not give a number".to_owned())),
            // Not a matter of types: what there is to say is said of the instance type.
            Err(
                ExecutionError::Overflow(..)
                | ExecutionError::DivisionByZero(_)
                | ExecutionError::RemainderByZero(_)
                | ExecutionError::FunctionError { .. },
            ) => Ok(expression),
            Err(error) => Err(invalid(error.to_string())),
        }
    }

    /// The number for a type, cut to a whole one.
    fn evaluate(&self, shape: &Shape, max_pods: u32) -> Result<i64, ExpressionError> {
        let network = &shape.network;
        let interfaces = network.interfaces_by_card.get(network.default_card).copied();
        let numbers = [
            i64::from(shape.vcpus),
            i64::try_from(shape.memory_mib).unwrap_or(i64::MAX),
            i64::from(interfaces.unwrap_or(0)),
            i64::from(network.ipv4_per_interface),
            i64::from(max_pods),
        ];
        let value = match self.run(&shape.name, numbers) {
            Ok(Value::Int(value)) => Some(value),
            Ok(Value::UInt(value)) => i64::try_from(value).ok(),
            // Printed without a fraction it is a whole number, and too large a one is none.
            Ok(Value::Float(value)) => format!("{:.0}", value.trunc()).parse().ok(),
            Ok(_) => None,
            Err(error) => return Err(self.failed(shape, error.to_string())),
        };
        let value = value.ok_or_else(|| self.failed(shape, "it gives no whole number".to_owned()));
        value.and_then(|value| match value {
            0.. => Ok(value),
            _ => Err(self.failed(shape, format!("it gives {value}, which is below zero"))),
        })
    }

    fn run(&self, name: &str, numbers: [i64; 5]) -> Result<Value, ExecutionError> {
        let mut context = Context::default();
        context
            .add_function("max", |one: Value, other: Value| pick(one, other, f64::max, i64::max));
        context
            .add_function("min", |one: Value, other: Value| pick(one, other, f64::min, i64::min));
        let names = ["vcpus", "memory_mib", "default_enis", "ips_per_eni", "max_pods"];
        for (name, value) in names.into_iter().zip(numbers) {
            context.add_variable_from_value(name, Value::Int(value));
        }
        context.add_variable_from_value("instance_type", name.to_owned());
        self.program.execute(&context)
    }

    fn failed(&self, shape: &Shape, why: String) -> ExpressionError {
        let (field, instance_type) = (self.field.clone(), shape.name.clone());
        ExpressionError::Failed { field, instance_type, why }
    }
}

/// One of two numbers. A whole one beside a fraction becomes a fraction.
fn pick(
    one: Value,
    other: Value,
    of_fractions: fn(f64, f64) -> f64,
    of_whole: fn(i64, i64) -> i64,
) -> Result<Value, ExecutionError> {
    match (one, other) {
        (Value::Int(one), Value::Int(other)) => Ok(Value::Int(of_whole(one, other))),
        (Value::Int(one), Value::Float(other)) => {
            Ok(Value::Float(of_fractions(fraction(one), other)))
        }
        (Value::Float(one), Value::Int(other)) => {
            Ok(Value::Float(of_fractions(one, fraction(other))))
        }
        (Value::Float(one), Value::Float(other)) => Ok(Value::Float(of_fractions(one, other))),
        (one, other) => Err(ExecutionError::ValuesNotComparable(one, other)),
    }
}

#[allow(clippy::cast_precision_loss, reason = "CEL's own double() loses as much")]
fn fraction(whole: i64) -> f64 {
    whole as f64
}

#[cfg(test)]
mod tests {
    use kerf_catalog::table;
    use serde_json::json;

    use super::*;

    fn kubelet(settings: serde_json::Value) -> Kubelet {
        serde_json::from_value(settings).unwrap()
    }

    /// What a type is given by these settings, or what is wrong with them.
    fn given(settings: serde_json::Value, name: &str) -> Result<NodeClassSettings, String> {
        let expressions = KubeletExpressions::of(&kubelet(settings));
        let expressions = expressions.map_err(|error| error.to_string())?.unwrap();
        let shape = table::shape(name).unwrap();
        let (settings, errors) = expressions.settings_for(shape, &NodeClassSettings::default());
        match errors.first() {
            Some(error) => Err(error.to_string()),
            None => Ok(settings),
        }
    }

    #[test]
    fn pods_are_computed_for_each_type_and_fractions_are_cut() {
        for (text, name, expected) in [
            ("110", "m5.large", 110),
            ("vcpus * 10", "m5.large", 20),
            ("vcpus * 10", "m5.4xlarge", 160),
            ("max_pods", "m5.large", 29),
            ("default_enis * (ips_per_eni - 1) + 2", "m5.large", 29),
            ("min(max_pods, 20)", "m5.large", 20),
            ("max(double(vcpus) * 1.9, 1)", "m5.large", 3),
            ("min(2.5, vcpus) * 2.0", "m5.large", 4),
            ("memory_mib / 1024 > 4 ? 40 : 8", "m5.large", 40),
            ("instance_type.startsWith('m5') ? 7 : 8", "m5.large", 7),
            ("instance_type.startsWith('m5') ? 7 : 8", "c5.large", 8),
        ] {
            let settings = given(json!({ "maxPods": text }), name);
            assert_eq!(settings.map(|it| it.kubelet.max_pods), Ok(Some(expected)), "{text} {name}");
        }
    }

    #[test]
    fn amounts_are_rounded_up_in_the_unit_of_their_resource() {
        let reserved = json!({
            "maxPods": "20",
            "kubeReserved": {
                "cpu": "vcpus * 31", "memory": "11 * max_pods + 255",
                "ephemeral-storage": "vcpus", "pid": "max_pods * 100",
            },
            "systemReserved": { "cpu": "50m", "memory": "double(memory_mib) * 0.01" },
        });
        let kubelet = given(reserved, "m5.large").unwrap().kubelet;
        let text = |resource: &str| kubelet.kube_reserved.quantity(resource).to_string();
        // 2 × 31 is 62, and 11 × 20 + 255 is 475: up to multiples of 10 and 16.
        let amounts = ["cpu", "memory", "ephemeral-storage", "pid"].map(text);
        assert_eq!(amounts, ["70m", "480Mi", "2Gi", "2k"]);
        assert_eq!(kubelet.system_reserved.quantity("memory").to_string(), "96Mi");
    }

    #[test]
    fn what_is_no_number_is_refused_with_its_field_before_any_type_is_looked_at() {
        for (text, part) in [
            ("vcpus *", "maxPods"),
            ("cores * 2", "cores"),
            ("instance_type", "does not give a number"),
            ("vcpus * 0.5", "overload"),
            ("[1, 2].size()", "lists and maps"),
            (&"1 + ".repeat(300), "longer than"),
        ] {
            let error = KubeletExpressions::of(&kubelet(json!({ "maxPods": text }))).unwrap_err();
            assert!(matches!(error, ExpressionError::Invalid { .. }), "{text}: {error}");
            let error = error.to_string();
            assert!(error.contains(part) && error.contains("spec.kubelet.maxPods"), "{error}");
        }
    }

    #[test]
    fn what_cannot_be_computed_for_a_type_names_it() {
        for (text, part) in [
            ("vcpus - 3", "below zero"),
            ("10 / (vcpus - 2)", "zero"),
            ("3000000000", "too many"),
            ("9223372036854775807 + vcpus", "verflow"),
            ("1.0 / 0.0", "no whole number"),
        ] {
            let error = given(json!({ "maxPods": text }), "m5.large").unwrap_err();
            assert!(error.contains(part) && error.contains("m5.large"), "{text}: {error}");
        }
    }

    #[test]
    fn settings_without_expressions_have_none() {
        let plain = kubelet(json!({ "maxPods": 20, "kubeReserved": { "cpu": "100m" } }));
        assert!(KubeletExpressions::of(&plain).unwrap().is_none());
    }
}
