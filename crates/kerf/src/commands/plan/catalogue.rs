//! Which machines the pools are made of.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use kerf_api::convert::node_pool_to_model;
use kerf_api::node_pool::NodePool;
use kerf_catalog::aws::{OwnLabels, Wanted, Zones};
use kerf_catalog::price::{PriceSource, price_source};
use kerf_catalog::settings::NodeClassSettings;
use kerf_kube::{Sourced, SourcedProblem};
use kerf_lint::FILE_BYTES_MAX;
use kerf_model::instance_type::InstanceType;
use kerf_model::labels::well_known::REGION;
use kerf_model::labels::{LabelRules, ProviderLabels, aws, kwok};
use kerf_model::pool::Sizing;
use kerf_model::requirement::RequirementEntry;
use kerf_scheduler::PoolWithTypes;

use super::asked_labels::AskedLabels;
use super::default_pool::{self, Machines};
use super::input::{Input, Refusals};
use super::node_class;

/// The region that prices are known for.
const REGION_DEFAULT: &str = "us-east-1";
/// The group of node classes for simulated machines.
const KWOK_GROUP: &str = "karpenter.kwok.sh";

/// The machines there are, as the user names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CatalogueName {
    /// What AWS sells in a region.
    Aws { region: String },
    /// The simulated machines.
    Kwok,
    /// A file of instance types.
    File { path: String },
}

/// Pools with their machines, and what to say about them.
pub(super) struct Chosen {
    pub(super) pools: Vec<PoolWithTypes>,
    pub(super) label_rules: LabelRules,
    pub(super) notes: Vec<String>,
}

impl FromStr for CatalogueName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("aws", region)) => Ok(Self::Aws { region: region.to_owned() }),
            None if text == "aws" => Ok(Self::Aws { region: REGION_DEFAULT.to_owned() }),
            None if text == "kwok" => Ok(Self::Kwok),
            _ if text.ends_with(".json") => Ok(Self::File { path: text.to_owned() }),
            _ => Err("write aws:REGION, kwok, or the name of a .json file".to_owned()),
        }
    }
}

/// Gives every pool its machines; without a pool, the default one.
pub(super) fn pools(input: &Input, named: Option<&CatalogueName>) -> Result<Chosen, Refusals> {
    let mut shelf = Shelf::new(input, named)?;
    let mut given = read_pools(input)?;
    let mut notes = Vec::new();
    if given.is_empty() {
        let machines = shelf.default_machines();
        notes.push(default_pool::note(machines).to_owned());
        given.push(default_pool(machines));
    }
    given.iter().for_each(|pool| shelf.note_pool(pool));
    let mut pools = Vec::new();
    for pool in given {
        if pool.sizing != Sizing::Dynamic {
            notes.push(format!("NodePool {} is static: it gets no nodes for pods", pool.name));
        }
        let instance_types = shelf.machines_for(&pool, &mut notes)?;
        pools.push(PoolWithTypes { pool: Arc::new(pool), instance_types });
    }
    notes.extend(shelf.price_note());
    notes.dedup();
    Ok(Chosen { pools, label_rules: shelf.label_rules(), notes })
}

fn read_pools(input: &Input) -> Result<Vec<kerf_model::pool::NodePool>, Refusals> {
    let mut problems = Vec::new();
    let mut pools = Vec::new();
    for Sourced { source, object } in &input.node_pools {
        match node_pool_to_model(object) {
            Ok(pool) => pools.push(pool),
            Err(found) => problems.extend(
                found.into_iter().map(|problem| SourcedProblem { source: *source, problem }),
            ),
        }
    }
    if problems.is_empty() { Ok(pools) } else { Err(input.places.refusals(problems)) }
}

fn default_pool(machines: Machines) -> kerf_model::pool::NodePool {
    let pool: NodePool = serde_json::from_value(default_pool::manifest(machines))
        .expect("a test reads the default pools");
    node_pool_to_model(&pool).expect("a test reads the default pools")
}

/// The catalogues in use, each made once.
struct Shelf<'a> {
    input: &'a Input,
    named: Option<&'a CatalogueName>,
    region: String,
    asked_labels: AskedLabels,
    /// What the pools of a node class require, by its name.
    required: BTreeMap<String, Vec<Vec<RequirementEntry>>>,
    file: Option<Arc<[InstanceType]>>,
    kwok: Option<Arc<[InstanceType]>>,
    /// By the name of the node class.
    aws: BTreeMap<String, Arc<[InstanceType]>>,
}

impl<'a> Shelf<'a> {
    fn new(input: &'a Input, named: Option<&'a CatalogueName>) -> Result<Self, Refusals> {
        let region = match named {
            Some(CatalogueName::Aws { region }) => region.clone(),
            _ => region_of_nodes(input).unwrap_or_else(|| REGION_DEFAULT.to_owned()),
        };
        let file = match named {
            Some(CatalogueName::File { path }) => Some(read_file(path)?),
            _ => None,
        };
        let mut asked_labels = input.asked_labels.clone();
        asked_labels.note_scheduler_config(&input.cluster.scheduler_config);
        Ok(Self {
            input,
            named,
            region,
            asked_labels,
            required: BTreeMap::new(),
            file,
            kwok: None,
            aws: BTreeMap::new(),
        })
    }

    fn note_pool(&mut self, pool: &kerf_model::pool::NodePool) {
        self.asked_labels.note_pool(pool);
        let spec = &pool.template.spec;
        let rules = self.label_rules();
        let entries = spec.requirements.iter();
        let required = entries.map(|entry| entry.normalized(rules.normalization())).collect();
        self.required.entry(spec.node_class.name.clone()).or_default().push(required);
    }

    fn default_machines(&self) -> Machines {
        match self.named {
            Some(CatalogueName::Kwok) => Machines::Kwok,
            Some(CatalogueName::File { .. }) => Machines::File,
            Some(CatalogueName::Aws { .. }) | None => Machines::Aws,
        }
    }

    fn machines_for(
        &mut self,
        pool: &kerf_model::pool::NodePool,
        notes: &mut Vec<String>,
    ) -> Result<Arc<[InstanceType]>, Refusals> {
        if let Some(file) = &self.file {
            return Ok(file.clone());
        }
        let simulated = match self.named {
            Some(CatalogueName::Kwok) => true,
            Some(_) => false,
            None => pool.template.spec.node_class.group == KWOK_GROUP,
        };
        if simulated {
            return Ok(self.kwok.get_or_insert_with(|| kerf_catalog::kwok().into()).clone());
        }
        let class = pool.template.spec.node_class.name.as_str();
        if let Some(types) = self.aws.get(class) {
            return Ok(types.clone());
        }
        let types = self.aws_machines(class, notes)?;
        self.aws.insert(class.to_owned(), types.clone());
        Ok(types)
    }

    fn aws_machines(
        &self,
        class: &str,
        notes: &mut Vec<String>,
    ) -> Result<Arc<[InstanceType]>, Refusals> {
        let named = |it: &&Sourced<_>| class_name(it) == class;
        let found = self.input.node_classes.iter().find(named).map(|class| &class.object);
        if found.is_none() && !self.input.node_pools.is_empty() {
            notes.push(format!("EC2NodeClass {class} not given: assumed one without settings"));
        }
        let settings = found.map_or_else(NodeClassSettings::default, node_class::settings);
        let zones = found.map(node_class::zones).unwrap_or_default();
        let zones = if zones.is_empty() { Zones::All } else { Zones::Only(&zones) };
        let asked = self.asked_labels.keys();
        // Overlays may contradict each other on types that no pool can use: that is said, too.
        let is_plain = self.input.node_overlays.is_empty();
        let pools = self.required.get(class).filter(|_| is_plain).map(Vec::as_slice);
        let wanted = Wanted { labels: OwnLabels::Only(&asked), pools };
        let types = kerf_catalog::aws::instance_types(&self.region, &settings, zones, wanted);
        types
            .map(Iterator::collect)
            .map_err(|error| Refusals(vec![format!("--catalogue  {error}")]))
    }

    /// Where prices come from, if AWS's are used.
    fn price_note(&self) -> Option<String> {
        let spot = "spot prices are estimates";
        match price_source(&self.region).filter(|_| !self.aws.is_empty())? {
            PriceSource::OwnTable => Some(format!("prices of {}; {spot}", self.region)),
            PriceSource::OtherRegion => {
                Some(format!("prices of us-east-1, for want of those of {}; {spot}", self.region))
            }
        }
    }

    fn label_rules(&self) -> LabelRules {
        let rules = LabelRules::core().with(&aws::provider_labels()).with(&kwok::provider_labels());
        match &self.file {
            None => rules,
            Some(types) => {
                let keys = kerf_catalog::kwok_file::offering_keys(types);
                rules.with(&ProviderLabels::new().well_known(keys))
            }
        }
    }
}

fn class_name(class: &Sourced<kerf_api::ec2_node_class::EC2NodeClass>) -> &str {
    class.object.metadata.name.as_deref().unwrap_or_default()
}

/// The region the given nodes are in, if it is one whose machines are known.
fn region_of_nodes(input: &Input) -> Option<String> {
    let nodes = input.cluster.nodes.iter().map(|node| &node.object.metadata);
    let mut regions = nodes.filter_map(|metadata| metadata.labels.as_ref()?.get(REGION));
    regions.find(|region| price_source(region).is_some()).cloned()
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
