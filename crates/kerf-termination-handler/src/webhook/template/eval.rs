//! Rendering: nodes and data in, text out, in a bounded number of steps.

use super::TemplateError;
use super::functions;
use super::parser::{Node, Operand, Pipeline};
use super::value::Value;

/// Steps that a rendering may take. A page of text takes a few hundred.
const STEPS_MAX: usize = 200_000;
/// The longest text that is written, and the longest that a value may have.
pub(super) const TEXT_BYTES_MAX: usize = 256 * 1024;

/// Renders nodes.
pub(super) fn render(nodes: &[Node], data: &Value) -> Result<String, TemplateError> {
    let mut rendering = Rendering {
        out: String::new(),
        steps_left: STEPS_MAX,
        variables: vec![(String::new(), data.clone())],
    };
    rendering.nodes(nodes, data)?;
    Ok(rendering.out)
}

struct Rendering {
    out: String,
    steps_left: usize,
    /// The newest last. The one without a name is the data.
    variables: Vec<(String, Value)>,
}

impl Rendering {
    fn step(&mut self, cost: usize) -> Result<(), TemplateError> {
        self.steps_left = self.steps_left.checked_sub(1 + cost).ok_or(TemplateError::Endless)?;
        Ok(())
    }

    fn nodes(&mut self, nodes: &[Node], dot: &Value) -> Result<(), TemplateError> {
        let known = self.variables.len();
        for node in nodes {
            self.node(node, dot)?;
        }
        self.variables.truncate(known);
        Ok(())
    }

    fn node(&mut self, node: &Node, dot: &Value) -> Result<(), TemplateError> {
        self.step(0)?;
        match node {
            Node::Text(text) => self.write(text),
            Node::Write(pipeline) => {
                let value = self.pipeline(pipeline, dot)?;
                match pipeline.set {
                    Some(_) => Ok(()),
                    None => {
                        self.step(value.size())?;
                        self.write(&value.to_string())
                    }
                }
            }
            Node::If { when, then, otherwise } => {
                let known = self.variables.len();
                let is_true = self.pipeline(when, dot)?.is_true();
                self.nodes(if is_true { then } else { otherwise }, dot)?;
                self.variables.truncate(known);
                Ok(())
            }
            Node::With { value, then, otherwise } => {
                let known = self.variables.len();
                let value = self.pipeline(value, dot)?;
                match value.is_true() {
                    true => self.nodes(then, &value)?,
                    false => self.nodes(otherwise, dot)?,
                }
                self.variables.truncate(known);
                Ok(())
            }
            Node::Range { items, names, then, otherwise } => {
                let items = self.pipeline(items, dot)?;
                self.range(items, names, (then, otherwise), dot)
            }
        }
    }

    fn range(
        &mut self,
        items: Value,
        names: &[String],
        (then, otherwise): (&[Node], &[Node]),
        dot: &Value,
    ) -> Result<(), TemplateError> {
        self.step(items.size())?;
        let pairs: Vec<(Value, Value)> = match &items {
            Value::Nil => Vec::new(),
            Value::List(items) => {
                let number = |place: usize| Value::Int(i64::try_from(place).unwrap_or(i64::MAX));
                items.iter().enumerate().map(|(place, it)| (number(place), it.clone())).collect()
            }
            Value::Map(entries) => {
                let pair = |(key, value): (&String, &Value)| (Value::from(&**key), value.clone());
                entries.iter().map(pair).collect()
            }
            other => return Err(unfit(format!("range does not go over {}", other.kind()))),
        };
        if pairs.is_empty() {
            return self.nodes(otherwise, dot);
        }
        for (key, value) in pairs {
            self.step(0)?;
            let known = self.variables.len();
            match names {
                [] => {}
                [name] => self.variables.push((name.clone(), value.clone())),
                [first, second, ..] => {
                    self.variables.push((first.clone(), key));
                    self.variables.push((second.clone(), value.clone()));
                }
            }
            self.nodes(then, &value)?;
            self.variables.truncate(known);
        }
        Ok(())
    }

    fn pipeline(&mut self, pipeline: &Pipeline, dot: &Value) -> Result<Value, TemplateError> {
        let mut piped = None;
        for command in &pipeline.commands {
            piped = Some(self.command(command, piped, dot)?);
        }
        let value = piped.unwrap_or(Value::Nil);
        if let Some(set) = &pipeline.set {
            let known = self.variables.iter_mut().rev().find(|(name, _)| *name == set.name);
            match known.filter(|_| !set.is_new) {
                Some((_, variable)) => *variable = value.clone(),
                None => self.variables.push((set.name.clone(), value.clone())),
            }
        }
        Ok(value)
    }

    fn command(
        &mut self,
        operands: &[Operand],
        piped: Option<Value>,
        dot: &Value,
    ) -> Result<Value, TemplateError> {
        self.step(0)?;
        let Some((first, others)) = operands.split_first() else { return Ok(Value::Nil) };
        let Operand::Function(name) = first else {
            if !others.is_empty() || piped.is_some() {
                return Err(unfit("a value that is no function gets arguments".to_owned()));
            }
            return self.operand(first, dot);
        };
        // These look no further than they must.
        if name == "and" || name == "or" {
            return self.short_circuit(name == "and", others, piped, dot);
        }
        let mut arguments = Vec::with_capacity(others.len() + 1);
        for operand in others {
            arguments.push(self.operand(operand, dot)?);
        }
        arguments.extend(piped);
        let cost = arguments.iter().map(Value::size).sum();
        self.step(cost)?;
        let value =
            functions::call(name, &arguments).map_err(|why| unfit(format!("{name}: {why}")))?;
        match &value {
            Value::Text(text) if text.len() > TEXT_BYTES_MAX => Err(TemplateError::Endless),
            _ => Ok(value),
        }
    }

    fn short_circuit(
        &mut self,
        is_and: bool,
        operands: &[Operand],
        piped: Option<Value>,
        dot: &Value,
    ) -> Result<Value, TemplateError> {
        let mut last = None;
        for operand in operands {
            let value = self.operand(operand, dot)?;
            if value.is_true() != is_and {
                return Ok(value);
            }
            last = Some(value);
        }
        piped.or(last).ok_or_else(|| unfit("and, or: a value is missing".to_owned()))
    }

    fn operand(&mut self, operand: &Operand, dot: &Value) -> Result<Value, TemplateError> {
        match operand {
            Operand::Literal(value) => Ok(value.clone()),
            Operand::Dot => Ok(dot.clone()),
            Operand::Fields(names) => fields(dot.clone(), names),
            Operand::Variable(name, names) => {
                let found = self.variables.iter().rev().find(|(known, _)| known == name);
                let value = found.map_or(Value::Nil, |(_, value)| value.clone());
                fields(value, names)
            }
            Operand::Inner(pipeline, names) => {
                let value = self.pipeline(pipeline, dot)?;
                fields(value, names)
            }
            // A function without arguments.
            Operand::Function(_) => self.command(std::slice::from_ref(operand), None, dot),
        }
    }

    fn write(&mut self, text: &str) -> Result<(), TemplateError> {
        if self.out.len() + text.len() > TEXT_BYTES_MAX {
            return Err(TemplateError::Endless);
        }
        self.out.push_str(text);
        Ok(())
    }
}

fn fields(mut value: Value, names: &[String]) -> Result<Value, TemplateError> {
    for name in names {
        value = match &value {
            Value::Record(entries) => match entries.get(name) {
                Some(value) => value.clone(),
                None => return Err(unfit(format!("there is no field {name}"))),
            },
            Value::Map(entries) => entries.get(name).cloned().unwrap_or(Value::Nil),
            Value::Nil => return Err(unfit(format!("{name} of nothing"))),
            other => return Err(unfit(format!("{} has no field {name}", other.kind()))),
        };
    }
    Ok(value)
}

fn unfit(why: String) -> TemplateError {
    TemplateError::Unfit(why)
}
