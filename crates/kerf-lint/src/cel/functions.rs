//! The functions rules may call, and conversions made by calling them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use kube_cel::KubeCelExt;
use kube_cel::cel::extractors::This;
use kube_cel::cel::{Context, ExecutionError, Program, Value as CelValue};

use crate::schema::pattern::Pattern;

/// A context with every Kubernetes function.
pub(super) fn context() -> Context<'static> {
    let mut context = Context::default().with_all();
    // Go reads `\d`, `\w` and `\s` as ASCII; the interpreter's own `matches` does not.
    context.add_function("matches", matches);
    // The interpreter lacks `type(x) == int`, which rules on int-or-string fields are made of.
    context.add_function("type", type_of);
    for name in TYPE_NAMES {
        context.add_variable_from_value(name, type_value(name));
    }
    context
}

/// Types a rule may name.
const TYPE_NAMES: [&str; 9] =
    ["int", "uint", "double", "string", "bytes", "bool", "list", "map", "null_type"];

fn type_of(value: CelValue) -> Result<CelValue, ExecutionError> {
    Ok(type_value(type_name(&value)))
}

fn type_name(value: &CelValue) -> &'static str {
    match value {
        CelValue::Int(_) => "int",
        CelValue::UInt(_) => "uint",
        CelValue::Float(_) => "double",
        CelValue::String(_) => "string",
        CelValue::Bytes(_) => "bytes",
        CelValue::Bool(_) => "bool",
        CelValue::List(_) => "list",
        CelValue::Map(_) => "map",
        CelValue::Null => "null_type",
        _ => "other",
    }
}

/// A type as a value. Bytes, so that it equals no text a manifest can hold.
fn type_value(name: &str) -> CelValue {
    CelValue::Bytes(Arc::new(format!("type {name}").into_bytes()))
}

fn matches(This(text): This<Arc<String>>, pattern: Arc<String>) -> Result<bool, ExecutionError> {
    COMPILED.with_borrow_mut(|compiled| {
        if compiled.len() >= COMPILED_MAX {
            compiled.clear();
        }
        let made = || Pattern::new(&pattern);
        match compiled.entry(pattern.to_string()).or_insert_with(made).regex() {
            Ok(regex) => Ok(regex.is_match(&text)),
            Err(error) => Err(ExecutionError::function_error("matches", error)),
        }
    })
}

/// Most patterns kept; our CRDs hold about a dozen.
const COMPILED_MAX: usize = 256;

thread_local! {
    static COMPILED: RefCell<HashMap<String, Pattern>> = RefCell::new(HashMap::new());
}

/// The moment a text names, by CEL's own `timestamp`.
pub(super) fn timestamp(text: &str, context: &Context<'_>) -> Option<CelValue> {
    call("timestamp(text)", text, context)
}

/// The length of time a text names, by CEL's own `duration`.
pub(super) fn duration(text: &str, context: &Context<'_>) -> Option<CelValue> {
    call("duration(text)", text, context)
}

/// The bytes a base64 text stands for.
pub(super) fn bytes(text: &str, context: &Context<'_>) -> Option<CelValue> {
    call("base64.decode(text)", text, context)
}

/// The empty optional that `oldSelf` is when there is no stored object.
pub(super) fn no_value(context: &Context<'_>) -> CelValue {
    call("optional.none()", "", context).unwrap_or(CelValue::Null)
}

fn call(expression: &str, text: &str, context: &Context<'_>) -> Option<CelValue> {
    let mut scope = context.new_inner_scope();
    scope.add_variable_from_value("text", CelValue::String(Arc::new(text.to_owned())));
    Program::compile(expression).ok()?.execute(&scope).ok()
}
