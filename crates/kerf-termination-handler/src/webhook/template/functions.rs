//! The functions of templates: Go's own, and the common ones of Sprig. None reads anything but its
//! arguments; `now` reads the clock.

mod collections;
mod comparison;
mod dates;
mod numbers;
mod texts;

use super::eval::TEXT_BYTES_MAX;
use super::value::Value;
pub(super) use texts::quoted;

/// A function: arguments in, the piped value last; what is wrong with them where something is.
pub(super) type Function = fn(&[Value]) -> Result<Value, String>;

/// `and` and `or` are known to whoever evaluates: they do not look at all their arguments.
const LAZY: [&str; 2] = ["and", "or"];

/// Every function, by name.
const TABLES: [&[(&str, Function)]; 5] =
    [comparison::TABLE, texts::TABLE, collections::TABLE, numbers::TABLE, dates::TABLE];

/// Whether there is a function of that name.
pub(super) fn is_function(name: &str) -> bool {
    LAZY.contains(&name) || find(name).is_some()
}

/// Calls a function.
pub(super) fn call(name: &str, arguments: &[Value]) -> Result<Value, String> {
    let function = find(name).ok_or("there is no such function")?;
    function(arguments)
}

fn find(name: &str) -> Option<Function> {
    let all = TABLES.iter().flat_map(|table| table.iter());
    all.into_iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
}

fn one(arguments: &[Value]) -> Result<&Value, String> {
    match arguments {
        [value] => Ok(value),
        other => Err(format!("it takes one argument, not {}", other.len())),
    }
}

fn two(arguments: &[Value]) -> Result<(&Value, &Value), String> {
    match arguments {
        [first, second] => Ok((first, second)),
        other => Err(format!("it takes two arguments, not {}", other.len())),
    }
}

fn three(arguments: &[Value]) -> Result<(&Value, &Value, &Value), String> {
    match arguments {
        [first, second, third] => Ok((first, second, third)),
        other => Err(format!("it takes three arguments, not {}", other.len())),
    }
}

fn text(value: &Value) -> Result<&str, String> {
    match value {
        Value::Text(text) => Ok(text),
        other => Err(format!("it takes text, not {}", other.kind())),
    }
}

fn int(value: &Value) -> Result<i64, String> {
    match value {
        Value::Int(number) => Ok(*number),
        other => Err(format!("it takes a number, not {}", other.kind())),
    }
}

/// A number that says how many or where.
fn count(value: &Value) -> Result<usize, String> {
    usize::try_from(int(value)?).map_err(|_| "it takes no negative number".to_owned())
}

fn list(value: &Value) -> Result<&[Value], String> {
    match value {
        Value::List(items) => Ok(items),
        Value::Nil => Ok(&[]),
        other => Err(format!("it takes a list, not {}", other.kind())),
    }
}

/// Text that does not grow beyond all bounds.
#[derive(Default)]
struct Growing(String);

impl Growing {
    fn push(&mut self, text: &str) -> Result<(), String> {
        if self.0.len() + text.len() > TEXT_BYTES_MAX {
            return Err("the text grows too long".to_owned());
        }
        self.0.push_str(text);
        Ok(())
    }

    fn done(self) -> Value {
        Value::from(self.0)
    }
}

/// Parts with something between them.
fn joined<'a>(parts: impl Iterator<Item = &'a str>, between: &str) -> Result<Value, String> {
    let mut out = Growing::default();
    for (place, part) in parts.enumerate() {
        if place > 0 {
            out.push(between)?;
        }
        out.push(part)?;
    }
    Ok(out.done())
}
