//! Values of SSM parameters, kept for a while.

use std::time::Duration;

use crate::provider::context::Context;
use crate::provider::node_class::cached::Cached;
use crate::{AwsAction, Result};

/// How long the image behind an alias stays good.
const ALIAS: Duration = Duration::from_hours(24);
/// The same of a parameter that a class names, and of one that is not there.
const NAMED: Duration = Duration::from_mins(5);
/// How often a parameter is asked for anew because its image is deprecated.
const DEPRECATED: Duration = Duration::from_mins(30);

/// How SSM says that there is no such parameter.
const NOT_FOUND: [&str; 2] = ["ParameterNotFound", "ParameterVersionNotFound"];
/// What the id of an image begins with.
const IMAGE: &str = "ami-";

/// Ids of images, by the parameters that hold them.
#[derive(Debug)]
pub(in crate::provider::node_class) struct Parameters {
    of_aliases: Cached<String, String>,
    others: Cached<String, Option<String>>,
    asked_anew: Cached<String, ()>,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            of_aliases: Cached::new(ALIAS),
            others: Cached::new(NAMED),
            asked_anew: Cached::new(DEPRECATED),
        }
    }
}

impl Parameters {
    /// The image in a parameter of AWS's; none if there is no such parameter.
    pub(super) async fn of_alias(&self, context: &Context, name: &str) -> Result<Option<String>> {
        let key = name.to_owned();
        if let Some(image) = self.of_aliases.get(&key) {
            return Ok(Some(image));
        }
        let image = self.named(context, name).await?;
        if let Some(image) = &image {
            self.of_aliases.put(key.clone(), image.clone());
            self.others.forget(&key);
        }
        Ok(image)
    }

    /// The image in a parameter; none if there is no such parameter, or no image in it.
    pub(super) async fn named(&self, context: &Context, name: &str) -> Result<Option<String>> {
        self.others.or_ask(name.to_owned(), ask(context, name)).await
    }

    /// Forgets a parameter whose image was withdrawn, so that its successor is found soon. The
    /// parameter may still name that image: then it is not asked for at every turn.
    pub(super) fn is_deprecated(&self, name: &str) {
        let key = name.to_owned();
        if self.asked_anew.get(&key).is_none() {
            self.of_aliases.forget(&key);
            self.asked_anew.put(key, ());
        }
    }
}

async fn ask(context: &Context, name: &str) -> Result<Option<String>> {
    let call = context.clients.ssm.get_parameter().name(name).send();
    let resource = format!("parameter/{}", name.trim_start_matches('/'));
    match context.calls.make(AwsAction::GetParameter, &resource, call).await {
        Ok(answer) => {
            let value = answer.parameter().and_then(|parameter| parameter.value());
            Ok(value.filter(|value| value.starts_with(IMAGE)).map(str::to_owned))
        }
        Err(error) if error.code().is_some_and(|code| NOT_FOUND.contains(&code)) => Ok(None),
        Err(error) => Err(error),
    }
}
