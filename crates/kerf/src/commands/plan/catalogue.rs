//! Which instance types the pools are offered.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use std::sync::Arc;

use kerf_api::node_pool::NodePool as ApiNodePool;
use kerf_aws::catalogue::{InstanceTypesQuery, NamedLabels};
use kerf_catalog::price::{
    PRICED_ON, PRICED_REGION, PriceSource, SPOT_PERCENT, SPOT_PERCENT_ACCELERATED, price_source,
};
use kerf_catalog::region::{UnknownRegion, regions};
use kerf_engine::World;
use kerf_engine::condition::READY;
use kerf_engine::observed::Pool;
use kerf_engine::provider::NodeClassKind;
use kerf_kube::{ObservedManifests, SchedulerConfig, Sourced};
use kerf_lint::FILE_BYTES_MAX;
use kerf_model::instance_type::InstanceType;
use kerf_model::labels::well_known::REGION;
use kerf_model::labels::{LabelRules, ProviderLabels, aws, kwok};
use kerf_model::nearest::nearest;
use kerf_model::node_spec::NodeClassRef;
use kerf_model::pool::{NodePool, Sizing};
use kerf_model::requirement::RequirementEntry;

use super::default_pool::{self, DefaultProvider};
use super::input::{Input, Refusals};
use super::{node_class_note, overlays};

/// The region that prices are known for.
const REGION_DEFAULT: &str = "us-east-1";
/// The group of node classes for simulated instances.
const KWOK_GROUP: &str = "karpenter.kwok.sh";

/// The instance types there are, as the user names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CatalogueName {
    /// What AWS sells in a region.
    Aws { region: String },
    /// The simulated instance types of the kwok provider.
    Kwok,
    /// A file of instance types.
    File { path: String },
}

impl FromStr for CatalogueName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("aws", region)) => known_region(region).map(|region| Self::Aws { region }),
            None if text == "aws" => Ok(Self::Aws { region: REGION_DEFAULT.to_owned() }),
            None if text == "kwok" => Ok(Self::Kwok),
            _ if text.ends_with(".json") => Ok(Self::File { path: text.to_owned() }),
            _ => Err("write aws:REGION, kwok, or the name of a .json file".to_owned()),
        }
    }
}

/// A region whose instance types are known.
fn known_region(region: &str) -> Result<String, String> {
    if price_source(region).is_some() {
        return Ok(region.to_owned());
    }
    Err(match nearest(region, regions()) {
        Some(meant) => format!("unknown AWS region; write: aws:{meant}"),
        None => UnknownRegion { region: region.to_owned() }.to_string(),
    })
}

/// Where the instance types of pools come from.
pub(super) struct Catalogues<'a> {
    named: Option<&'a CatalogueName>,
    /// The types of the file that was named.
    file: Option<Arc<[InstanceType]>>,
    named_labels: NamedLabels,
    /// What to say about the pool that was assumed, if none was given.
    assumed: Option<&'static str>,
    /// Whether types were left out that no pool allows.
    is_narrowed: bool,
}

impl<'a> Catalogues<'a> {
    /// Reads the file that was named, and assumes a pool if the input has none.
    pub(super) fn new(
        input: &mut Input,
        named: Option<&'a CatalogueName>,
    ) -> Result<Self, Refusals> {
        let file = match named {
            Some(CatalogueName::File { path }) => Some(read_file(path)?),
            _ => None,
        };
        let named_labels = input.named_labels.clone();
        let mut catalogues = Self { named, file, named_labels, assumed: None, is_narrowed: false };
        if input.manifests.node_pools.is_empty() {
            let provider = catalogues.default_provider();
            let object = default_pool(provider);
            input.manifests.node_pools.push(Sourced { source: 0, object });
            catalogues.assumed = Some(default_pool::note(provider));
        }
        Ok(catalogues)
    }

    /// Notes the keys that pods are spread over by default.
    pub(super) fn note_scheduler_config(&mut self, config: &SchedulerConfig) {
        let spreads = config.default_spreads.iter();
        spreads.for_each(|spread| self.named_labels.note(&spread.topology_key));
    }

    /// Which labels mean what.
    pub(super) fn label_rules(&self) -> LabelRules {
        let rules = LabelRules::core().with(&aws::provider_labels()).with(&kwok::provider_labels());
        match &self.file {
            None => rules,
            Some(types) => {
                let keys = kerf_catalog::kwok_file::offering_keys(types);
                rules.with(&ProviderLabels::new().well_known(keys))
            }
        }
    }

    /// Offers every pool its instance types, as overlays change them. Returns what to say about it.
    pub(super) fn offer(
        &mut self,
        observed: &mut ObservedManifests,
    ) -> Result<Vec<String>, Refusals> {
        let world = observed.world();
        let mut notes: Vec<String> = self.assumed.map(str::to_owned).into_iter().collect();
        let mut types = TypesByClass::new(self, world);
        let is_narrowed = types.required.is_some();
        let mut offered = Vec::new();
        for pool in world.pools.values() {
            notes.extend(why_closed(pool));
            offered.push((pool.meta.name.clone(), types.of_pool(&pool.spec, &mut notes)?));
        }
        notes.extend(types.price_note());
        notes.dedup();
        self.is_narrowed = is_narrowed && !types.aws.is_empty();
        observed.offer(offered);
        notes.extend(overlays::notes(observed.world()));
        Ok(notes)
    }

    /// Offers every pool also the types it does not allow, so that pods without a place can be told
    /// what would hold them. Returns whether that is more than was offered before.
    pub(super) fn offer_everything(&mut self, observed: &mut ObservedManifests) -> bool {
        if !std::mem::take(&mut self.is_narrowed) {
            return false;
        }
        let world = observed.world();
        let mut types = TypesByClass::new(self, world);
        types.required = None;
        // What there is to say was said when the others were offered.
        let mut said = Vec::new();
        let pools = world.pools.values();
        let offered = pools
            .map(|pool| Some((pool.meta.name.clone(), types.of_pool(&pool.spec, &mut said).ok()?)));
        let offered: Option<Vec<_>> = offered.collect();
        let is_known = offered.is_some();
        observed.offer(offered.unwrap_or_default());
        is_known
    }

    fn default_provider(&self) -> DefaultProvider {
        match self.named {
            Some(CatalogueName::Kwok) => DefaultProvider::Kwok,
            Some(CatalogueName::File { .. }) => DefaultProvider::File,
            Some(CatalogueName::Aws { .. }) | None => DefaultProvider::Aws,
        }
    }
}

/// Why a pool gets no nodes for pods, if it does not.
fn why_closed(pool: &Pool) -> Option<String> {
    let why = match &pool.spec.sizing {
        _ if pool.meta.is_deleting() => "is being deleted",
        sizing if *sizing != Sizing::Dynamic => "is static",
        _ if !pool.status.conditions.is_true(READY) => "is not ready",
        _ => return None,
    };
    Some(format!("NodePool {} {why}: it gets no nodes for pods", pool.spec.name))
}

fn default_pool(provider: DefaultProvider) -> ApiNodePool {
    serde_json::from_value(default_pool::manifest(provider))
        .expect("a test reads the default pools")
}

/// The instance types in use, each list made once.
struct TypesByClass<'a> {
    catalogues: &'a Catalogues<'a>,
    world: &'a World,
    region: String,
    named_labels: NamedLabels,
    /// What the pools of a node class require, by its name, where nobody else can ask for types.
    required: Option<BTreeMap<&'a str, Vec<Vec<RequirementEntry>>>>,
    kwok: Option<Arc<[InstanceType]>>,
    /// By the name of the node class.
    aws: BTreeMap<String, Arc<[InstanceType]>>,
}

impl<'a> TypesByClass<'a> {
    fn new(catalogues: &'a Catalogues<'a>, world: &'a World) -> Self {
        let region = match catalogues.named {
            Some(CatalogueName::Aws { region }) => region.clone(),
            _ => region_of_nodes(world).unwrap_or_else(|| REGION_DEFAULT.to_owned()),
        };
        let mut named_labels = catalogues.named_labels.clone();
        world.pools.values().for_each(|pool| named_labels.note_pool(&pool.spec));
        // Overlays may contradict each other on types that no pool can use, which is reported, too; and
        // a claim may have been made when its pool allowed other types.
        let only_pools_ask = world.overlays.is_empty() && world.claims.is_empty();
        let required = only_pools_ask.then(|| required(world));
        let (kwok, aws) = (None, BTreeMap::new());
        Self { catalogues, world, region, named_labels, required, kwok, aws }
    }

    fn of_pool(
        &mut self,
        pool: &NodePool,
        notes: &mut Vec<String>,
    ) -> Result<Arc<[InstanceType]>, Refusals> {
        if let Some(file) = &self.catalogues.file {
            return Ok(file.clone());
        }
        let class = &pool.template.spec.node_class;
        let simulated = match self.catalogues.named {
            Some(CatalogueName::Kwok) => true,
            Some(_) => false,
            None => class.group == KWOK_GROUP,
        };
        if simulated {
            return Ok(self.kwok.get_or_insert_with(|| kerf_catalog::kwok().into()).clone());
        }
        if let Some(types) = self.aws.get(&class.name) {
            return Ok(types.clone());
        }
        let types = self.of_node_class(class, notes)?;
        self.aws.insert(class.name.clone(), types.clone());
        Ok(types)
    }

    fn of_node_class(
        &self,
        class: &NodeClassRef,
        notes: &mut Vec<String>,
    ) -> Result<Arc<[InstanceType]>, Refusals> {
        let name = class.name.as_str();
        // Its kind may be written otherwise in the pool: there is only one that AWS has.
        let mut classes = self.world.node_classes.values();
        let node_class = classes.find(|it| it.key.name == *name);
        let node_class = node_class.and_then(|class| kerf_aws::node_class::read(class).ok());
        if node_class.is_none() && self.catalogues.assumed.is_none() {
            notes.push(format!("EC2NodeClass {name} not given: assumed one without settings"));
        }
        let query = InstanceTypesQuery {
            region: &self.region,
            node_class: node_class.as_ref(),
            labels: &self.named_labels,
            pools: self.required.as_ref().and_then(|pools| pools.get(name)).map(Vec::as_slice),
        };
        let types = kerf_aws::catalogue::instance_types(query)
            .map_err(|error| Refusals(vec![format!("--catalogue  {error}")]))?;
        if let Some(class) = &node_class {
            notes.extend(node_class_note::of(name, class, &types));
        }
        Ok(types)
    }

    /// What the figures are, if AWS's are used: the day of the prices, how spot is estimated, and
    /// whether zones had to be assumed.
    fn price_note(&self) -> Option<String> {
        let whose = match price_source(&self.region).filter(|_| !self.aws.is_empty())? {
            PriceSource::OwnTable => format!("{PRICED_REGION}, {PRICED_ON}"),
            PriceSource::OtherRegion => {
                format!("{PRICED_REGION} for {}, {PRICED_ON}", self.region)
            }
        };
        let spot = format!("spot: estimated, {SPOT_PERCENT} to {SPOT_PERCENT_ACCELERATED} %");
        let zones = if self.knows_all_zones() { "" } else { "; zones: all, assumed" };
        Some(format!("prices: {whose}; {spot}{zones}"))
    }

    /// Whether the status of every node class in use says which zones its subnets are in.
    fn knows_all_zones(&self) -> bool {
        let known = |name: &String| {
            let mut classes = self.world.node_classes.values();
            let class = classes.find(|it| it.key.name == **name);
            let class = class.and_then(|class| kerf_aws::node_class::read(class).ok());
            class.is_some_and(|class| node_class_note::has_zones(&class))
        };
        self.aws.keys().all(known)
    }
}

/// What the pools of each node class require, by its name.
fn required(world: &World) -> BTreeMap<&str, Vec<Vec<RequirementEntry>>> {
    let normalization = world.settings.scheduler.label_rules.normalization();
    let mut required: BTreeMap<&str, Vec<Vec<RequirementEntry>>> = BTreeMap::new();
    for spec in world.pools.values().map(|pool| &pool.spec.template.spec) {
        let entries = spec.requirements.iter().map(|entry| entry.normalized(normalization));
        required.entry(spec.node_class.name.as_str()).or_default().push(entries.collect());
    }
    required
}

/// The region the given nodes are in, if it is one whose instance types are known.
fn region_of_nodes(world: &World) -> Option<String> {
    let mut regions = world.nodes.values().filter_map(|node| node.labels.get(REGION));
    regions.find(|region| price_source(region).is_some()).cloned()
}

/// The kinds of node classes that pools name. Whatever they are, a plan finds instance types for
/// them.
pub(super) fn node_class_kinds(input: &Input) -> Vec<NodeClassKind> {
    let pools = input.manifests.node_pools.iter().map(|pool| &pool.object.spec.template.spec);
    let kinds: BTreeSet<(String, String)> = pools
        .map(|spec| (spec.node_class_ref.group.clone(), spec.node_class_ref.kind.clone()))
        .collect();
    kinds.iter().map(|(group, kind)| NodeClassKind::named(group, kind)).collect()
}

fn read_file(path: &str) -> Result<Arc<[InstanceType]>, Refusals> {
    let refuse = |reason: String| Refusals(vec![format!("{path}  {reason}")]);
    let size = std::fs::metadata(path).map(|file| file.len());
    match size {
        Ok(size) if size > FILE_BYTES_MAX => {
            let most = FILE_BYTES_MAX / (1024 * 1024);
            return Err(refuse(format!("cannot be read: larger than {most} MiB")));
        }
        _ => {}
    }
    let text = std::fs::read_to_string(path)
        .map_err(|error| refuse(format!("cannot be read: {error}")))?;
    let types = kerf_catalog::from_json(&text).map_err(|error| refuse(error.to_string()))?;
    if types.is_empty() {
        return Err(refuse("lists no instance type".to_owned()));
    }
    Ok(types.into())
}
