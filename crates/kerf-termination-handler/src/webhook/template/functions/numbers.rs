//! Whole numbers. What overflows is an error.

use super::{Function, int, one, two};
use crate::webhook::template::value::Value;

pub(super) const TABLE: &[(&str, Function)] = &[
    ("add", |arguments| fold(arguments, i64::checked_add)),
    ("mul", |arguments| fold(arguments, i64::checked_mul)),
    ("sub", |arguments| both(arguments, i64::checked_sub)),
    ("div", |arguments| both(arguments, i64::checked_div)),
    ("mod", |arguments| both(arguments, i64::checked_rem)),
    ("max", |arguments| fold(arguments, |a, b| Some(a.max(b)))),
    ("min", |arguments| fold(arguments, |a, b| Some(a.min(b)))),
    ("int", |arguments| to_int(one(arguments)?)),
    ("int64", |arguments| to_int(one(arguments)?)),
];

type Operation = fn(i64, i64) -> Option<i64>;

fn fold(arguments: &[Value], operation: Operation) -> Result<Value, String> {
    let (first, others) = arguments.split_first().ok_or("it takes one argument or more")?;
    let mut result = int(first)?;
    for other in others {
        result = operation(result, int(other)?).ok_or("the result is out of range")?;
    }
    Ok(Value::Int(result))
}

fn both(arguments: &[Value], operation: Operation) -> Result<Value, String> {
    two(arguments)?;
    fold(arguments, operation)
}

fn to_int(value: &Value) -> Result<Value, String> {
    Ok(Value::Int(match value {
        Value::Int(number) => *number,
        Value::Bool(is_true) => i64::from(*is_true),
        // As in Sprig: what is no number is nought.
        Value::Text(text) => text.trim().parse().unwrap_or_default(),
        _ => 0,
    }))
}
