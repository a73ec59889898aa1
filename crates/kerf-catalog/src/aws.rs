//! AWS's instance types as the scheduler sees them.

use std::sync::Arc;

use kerf_model::instance_type::{InstanceType, Overhead};
use kerf_model::requirement::RequirementEntry;
use kerf_model::resources::ResourceList;

use crate::capacity::capacity;
use crate::compatibility::incompatibility;
use crate::labels::requirements;
use crate::offerings::{ZoneWays, offerings};
use crate::overhead::overhead;
use crate::price::{BuiltInPrice, PriceBook};
use crate::region::{UnknownRegion, region_offerings};
use crate::settings::NodeClassSettings;
use crate::shape::Shape;
use crate::table;

/// A zone instances can be launched in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Zone {
    /// Its name: `us-east-1a`.
    pub name: String,
    /// Its id, the same in every account: `use1-az4`. Only a subnet can tell.
    pub id: Option<String>,
}

/// The zones a node class can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zones<'a> {
    /// All of the region.
    All,
    /// Those it has subnets in.
    Only(&'a [Zone]),
}

impl Zones<'_> {
    fn listed(self, region: &str) -> Result<Vec<Zone>, UnknownRegion> {
        match self {
            Zones::Only(zones) => Ok(zones.to_vec()),
            Zones::All => {
                let names = crate::region::zones(region)?.into_iter();
                Ok(names.map(|name| Zone { name, id: None }).collect())
            }
        }
    }
}

/// Which of AWS's own labels types tell. Those every cloud has (type, zone, architecture and so
/// on) they tell always.
///
/// A type has some forty labels, most of which nobody asks for. Who has everything in hand that
/// could ask for one, as a plan of manifests has, gets the same answers from the few that are
/// asked for, in a third of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnLabels<'a> {
    /// All of them.
    All,
    /// Those with these keys.
    Only(&'a [&'a str]),
}

/// The domain of AWS's own labels, as keys begin with it.
const OWN_PREFIX: &str = "karpenter.k8s.aws/";

impl OwnLabels<'_> {
    /// Whether a label is wanted.
    #[must_use]
    pub fn include(self, key: &str) -> bool {
        match self {
            OwnLabels::All => true,
            OwnLabels::Only(keys) => !key.starts_with(OWN_PREFIX) || keys.contains(&key),
        }
    }
}

/// What of the types sold in a region is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The labels they tell.
    pub labels: OwnLabels<'a>,
    /// The requirements of the pools they are for, normalised. A type that none of these can use
    /// by its labels is left out before more is found out about it.
    pub pools: Option<&'a [Vec<RequirementEntry>]>,
}

impl Wanted<'_> {
    /// All types with all labels.
    pub const ALL: Wanted<'static> = Wanted { labels: OwnLabels::All, pools: None };

    fn is_for(self, type_labels: &[RequirementEntry]) -> bool {
        let suits = |pool: &Vec<RequirementEntry>| {
            !pool.iter().any(|asked| type_labels.iter().any(|label| asked.rules_out(label)))
        };
        self.pools.is_none_or(|pools| pools.iter().any(suits))
    }
}

/// The types sold in a region and what nodes of them would be like, in the order of their names.
///
/// Types that are sold in none of the zones are left out. Those that cannot be what the node class
/// asks for are there with offerings that are not available; those without a known price cost
/// [`kerf_model::price::Price::UNKNOWN`].
///
/// # Errors
/// Nothing is known about the region.
pub fn aws(
    region: &str,
    settings: &NodeClassSettings,
    zones: Zones<'_>,
) -> Result<Vec<InstanceType>, UnknownRegion> {
    Ok(instance_types(region, settings, zones, Wanted::ALL)?.collect())
}

/// The same types one by one: those that are wanted, with the labels that are.
///
/// # Errors
/// Nothing is known about the region.
pub fn instance_types<'a>(
    region: &'a str,
    settings: &'a NodeClassSettings,
    zones: Zones<'_>,
    wanted: Wanted<'a>,
) -> Result<impl Iterator<Item = InstanceType> + use<'a>, UnknownRegion> {
    let sold = region_offerings(region)?;
    let market = Market::new(region, settings, zones.listed(region)?);
    Ok(sold.types.iter().filter_map(move |(name, letters)| {
        let shape = table::shape(name)?;
        let is_sold = |zone: &Zone| is_sold_in(region, letters, &zone.name);
        market.wanted_type(shape, is_sold, &BuiltInPrice::of(shape), wanted)
    }))
}

/// The same types where what the node class says depends on the type.
///
/// # Errors
/// Nothing is known about the region.
pub fn instance_types_by_shape(
    region: &str,
    zones: Zones<'_>,
    wanted: Wanted<'_>,
    settings_of: impl Fn(&Shape) -> NodeClassSettings,
) -> Result<Vec<InstanceType>, UnknownRegion> {
    let (sold, zones) = (region_offerings(region)?, zones.listed(region)?);
    let offered = sold.types.iter().filter_map(|(name, letters)| {
        let shape = table::shape(name)?;
        let settings = settings_of(shape);
        let market = Market::new(region, &settings, zones.iter().cloned());
        let is_sold = |zone: &Zone| is_sold_in(region, letters, &zone.name);
        market.wanted_type(shape, is_sold, &BuiltInPrice::of(shape), wanted)
    });
    Ok(offered.collect())
}

/// Where and how instances of a node class can be bought in a region: made once for all types.
pub struct Market<'a> {
    region: &'a str,
    settings: &'a NodeClassSettings,
    ways: Vec<ZoneWays>,
}

/// What stays the same of a type, whatever it costs and wherever it is in stock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeFacts {
    requirements: Arc<[RequirementEntry]>,
    capacity: Arc<ResourceList>,
    overhead: Arc<Overhead>,
    is_compatible: bool,
}

impl<'a> Market<'a> {
    /// Of the zones a node class can use.
    pub fn new(
        region: &'a str,
        settings: &'a NodeClassSettings,
        zones: impl IntoIterator<Item = Zone>,
    ) -> Self {
        let group = settings.placement_group.as_ref();
        let ways = zones.into_iter().map(|zone| ZoneWays::new(zone, group)).collect();
        Self { region, settings, ways }
    }

    /// What stays the same of a type; none where it is sold in none of the zones.
    pub fn facts(&self, shape: &Shape, is_sold: impl Fn(&Zone) -> bool) -> Option<TypeFacts> {
        self.wanted_facts(shape, &self.sold(is_sold), Wanted::ALL)
    }

    /// What nodes of a type would be like, with what was found out about it before.
    pub fn instance_type(
        &self,
        shape: &Shape,
        facts: &TypeFacts,
        is_sold: impl Fn(&Zone) -> bool,
        prices: &impl PriceBook,
    ) -> InstanceType {
        facts.offered(shape, &self.sold(is_sold), prices)
    }

    fn sold(&self, is_sold: impl Fn(&Zone) -> bool) -> Vec<&ZoneWays> {
        self.ways.iter().filter(|ways| is_sold(&ways.zone)).collect()
    }

    fn wanted_type(
        &self,
        shape: &Shape,
        is_sold: impl Fn(&Zone) -> bool,
        prices: &impl PriceBook,
        wanted: Wanted<'_>,
    ) -> Option<InstanceType> {
        let ways = self.sold(is_sold);
        Some(self.wanted_facts(shape, &ways, wanted)?.offered(shape, &ways, prices))
    }

    fn wanted_facts(
        &self,
        shape: &Shape,
        ways: &[&ZoneWays],
        wanted: Wanted<'_>,
    ) -> Option<TypeFacts> {
        if ways.is_empty() {
            return None;
        }
        let requirements = requirements(shape, self.settings, self.region, ways, wanted.labels);
        wanted.is_for(&requirements).then(|| TypeFacts::new(requirements, shape, self.settings))
    }
}

impl TypeFacts {
    fn new(
        requirements: Vec<RequirementEntry>,
        shape: &Shape,
        settings: &NodeClassSettings,
    ) -> Self {
        Self {
            requirements: requirements.into(),
            capacity: Arc::new(capacity(shape, settings)),
            overhead: Arc::new(overhead(shape, settings)),
            is_compatible: incompatibility(shape, settings).is_none(),
        }
    }

    /// Whether instances of the type can be what the node class asks for.
    #[must_use]
    pub fn is_compatible(&self) -> bool {
        self.is_compatible
    }

    /// The labels of the type.
    #[must_use]
    pub fn requirements(&self) -> &[RequirementEntry] {
        &self.requirements
    }

    /// The same for a node class none of whose images runs on the type.
    #[must_use]
    pub fn without_image(self) -> Self {
        Self { is_compatible: false, ..self }
    }

    fn offered(&self, shape: &Shape, ways: &[&ZoneWays], prices: &impl PriceBook) -> InstanceType {
        InstanceType {
            name: shape.name.clone(),
            requirements: self.requirements.clone(),
            capacity: self.capacity.clone(),
            overhead: self.overhead.clone(),
            offerings: offerings(shape, ways, self.is_compatible, prices).into(),
        }
    }
}

/// What nodes of one type would be like if it is sold in the given zones of a region.
#[must_use]
pub fn instance_type(
    shape: &Shape,
    settings: &NodeClassSettings,
    region: &str,
    zones: &[&Zone],
    prices: &impl PriceBook,
) -> InstanceType {
    let market = Market::new(region, settings, zones.iter().copied().cloned());
    let ways: Vec<&ZoneWays> = market.ways.iter().collect();
    let requirements = requirements(shape, settings, region, &ways, OwnLabels::All);
    TypeFacts::new(requirements, shape, settings).offered(shape, &ways, prices)
}

/// The types sold in a region, each with the letters of its zones.
///
/// # Errors
/// Nothing is known about the region.
pub fn sold_in(region: &str) -> Result<&'static [(&'static str, &'static str)], UnknownRegion> {
    Ok(&region_offerings(region)?.types)
}

fn is_sold_in(region: &str, letters: &str, zone: &str) -> bool {
    let letter = zone.strip_prefix(region).unwrap_or_default();
    letter.len() == 1 && letters.contains(letter)
}
