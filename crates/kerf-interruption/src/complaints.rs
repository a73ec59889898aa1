//! Calls that fail, said once: until they work again, or fail in another way.

use std::collections::BTreeMap;
use std::mem::{Discriminant, discriminant};

use kerf_aws::CallError;
use tracing::{error, info};

/// The calls that fail now, by what they are for.
#[derive(Debug, Default)]
pub(crate) struct Complaints(BTreeMap<&'static str, Discriminant<CallError>>);

impl Complaints {
    /// A call failed. The log hears of it if that is news; whether it is, is returned.
    pub(crate) fn complain(&mut self, what: &'static str, why: &CallError) -> bool {
        let is_news = self.0.insert(what, discriminant(why)) != Some(discriminant(why));
        if is_news {
            error!("interruption queue: {what}: {why}");
        }
        is_news
    }

    /// A call worked.
    pub(crate) fn settle(&mut self, what: &'static str) {
        if self.0.remove(what).is_some() {
            info!("interruption queue: {what}: works again");
        }
    }
}
