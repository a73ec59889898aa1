//! What a launch is decided on.

use std::sync::Arc;

use kerf_model::hash::fnv1a;
use kerf_model::instance_type::{InstanceType, Offering};
use kerf_model::labels::LabelRules;
use kerf_model::labels::well_known::INSTANCE_TYPE;
use kerf_model::requirement::{BadBound, Operator, RequirementEntry};
use kerf_model::requirements::Requirements;
use kerf_model::rng::SplitMix64;
use kerf_model::vocabulary::Vocabulary;
use serde::{Deserialize, Serialize};

use crate::observed::{Claim, NodeClass};

/// An instance to launch for a claim, with everything that was known when it was decided: nothing
/// is read anew to carry it out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// The claim, without the zones the cluster is shifted away from.
    pub claim: Claim,
    /// The claim's node class; none if there is no such object.
    pub node_class: Option<Arc<NodeClass>>,
    /// What the claim's pool is offered. Unknown for a claim without a pool and for a moment after
    /// a restart: then it may have whatever nodes of its class can be made of.
    #[serde(skip)]
    pub instance_types: Option<Arc<[InstanceType]>>,
}

/// One way to buy an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchOffering<'a> {
    /// The type.
    pub instance_type: &'a InstanceType,
    /// Zone, capacity type and price.
    pub offering: &'a Offering,
}

impl Launch {
    /// The instance types the claim names, if it names any.
    #[must_use]
    pub fn named_types(&self) -> Option<&[String]> {
        let entries = &self.claim.spec.node.requirements;
        let entry =
            entries.iter().find(|it| it.key == INSTANCE_TYPE && it.operator == Operator::In);
        entry.map(|entry| entry.values.as_slice())
    }

    /// The available offerings of these types that the claim allows, cheapest first. Equals are
    /// ordered by the claim's uid: one claim always gets the same, and many are spread.
    ///
    /// # Errors
    /// A requirement cannot be understood.
    pub fn offerings<'t>(
        &self,
        types: &'t [InstanceType],
        rules: &LabelRules,
    ) -> Result<Vec<LaunchOffering<'t>>, BadBound> {
        let named = self.named_types();
        let mut vocabulary = Vocabulary::new();
        let mut read = |entries: &[RequirementEntry]| {
            Requirements::from_entries(entries, rules.normalization(), &mut vocabulary)
        };
        let wanted = read(&self.claim.spec.node.requirements)?;
        let mut offered = Vec::new();
        for instance_type in
            types.iter().filter(|it| named.is_none_or(|all| all.contains(&it.name)))
        {
            let own = read(&instance_type.requirements)?;
            for offering in
                instance_type.offerings.iter().filter(|offering| offering.is_launchable())
            {
                let sold = read(&offering.requirements)?;
                offered.push((own.clone(), sold, LaunchOffering { instance_type, offering }));
            }
        }
        offered.retain(|(own, sold, LaunchOffering { instance_type, offering })| {
            own.intersects(&wanted, &vocabulary)
                && sold.intersects(&wanted, &vocabulary)
                && self.claim.spec.requests.fits(&instance_type.allocatable_of(offering))
        });
        let mut allowed: Vec<LaunchOffering<'t>> = offered.into_iter().map(|(.., it)| it).collect();
        allowed.sort_by_cached_key(|it| (it.offering.price, self.rank(*it)));
        Ok(allowed)
    }

    /// The place of an offering among equals.
    fn rank(&self, offering: LaunchOffering<'_>) -> u64 {
        let values = offering.offering.requirements.iter().flat_map(|entry| &entry.values);
        let texts = values.chain([&offering.instance_type.name]).map(String::as_str);
        let texts = texts.chain([&*self.claim.meta.uid]).collect::<Vec<_>>().join(" ");
        // The high bits, which decide, hardly depend on the end of the text: the uid.
        SplitMix64::new(fnv1a(texts.as_bytes())).next_u64()
    }
}
