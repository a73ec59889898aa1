//! Comparisons, and what to take where something is empty.

use std::cmp::Ordering;

use super::{Function, one, three, two};
use crate::webhook::template::value::Value;

pub(super) const TABLE: &[(&str, Function)] = &[
    ("not", |arguments| Ok(Value::Bool(!one(arguments)?.is_true()))),
    ("eq", |arguments| match arguments {
        [first, others @ ..] if !others.is_empty() => {
            Ok(Value::Bool(others.iter().any(|other| other == first)))
        }
        _ => Err("it takes two arguments or more".to_owned()),
    }),
    ("ne", |arguments| two(arguments).map(|(a, b)| Value::Bool(a != b))),
    ("lt", |arguments| Ok(Value::Bool(order(arguments)? == Ordering::Less))),
    ("le", |arguments| Ok(Value::Bool(order(arguments)? != Ordering::Greater))),
    ("gt", |arguments| Ok(Value::Bool(order(arguments)? == Ordering::Greater))),
    ("ge", |arguments| Ok(Value::Bool(order(arguments)? != Ordering::Less))),
    ("default", |arguments| {
        let (other, value) = match arguments {
            [other] => (other, other),
            _ => two(arguments)?,
        };
        Ok(if value.is_true() { value.clone() } else { other.clone() })
    }),
    ("empty", |arguments| Ok(Value::Bool(!one(arguments)?.is_true()))),
    ("coalesce", |arguments| {
        Ok(arguments.iter().find(|value| value.is_true()).cloned().unwrap_or(Value::Nil))
    }),
    ("ternary", |arguments| {
        let (yes, no, when) = three(arguments)?;
        Ok(if when.is_true() { yes.clone() } else { no.clone() })
    }),
    ("fail", |arguments| Err(one(arguments)?.to_string())),
];

fn order(arguments: &[Value]) -> Result<Ordering, String> {
    match two(arguments)? {
        (Value::Int(a), Value::Int(b)) => Ok(a.cmp(b)),
        (Value::Text(a), Value::Text(b)) => Ok(a.cmp(b)),
        (Value::Time(a), Value::Time(b)) => Ok(a.cmp(b)),
        (a, b) => Err(format!("{} and {} have no order", a.kind(), b.kind())),
    }
}
