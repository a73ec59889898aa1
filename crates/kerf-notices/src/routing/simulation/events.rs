//! Events such as an account sees in a day.

use super::super::backoff::Rng;
use super::world::World;
use crate::message::InstanceId;

/// Makes events about instances that it also puts into the world.
pub(super) struct Generator {
    clusters: u64,
    instances: u64,
}

/// Over its life an instance is the subject of about four events.
const EVENTS_PER_INSTANCE: usize = 4;

/// Every hundredth event is about scheduled maintenance of several instances.
const HEALTH_PER_MILLE: u64 = 10;
/// Zonal shifts are rare, and go to every cluster.
const ZONAL_PER_MILLE: u64 = 1;
/// Instances of no cluster: the account also runs other things.
const STRANGERS_PER_MILLE: u64 = 50;

const KINDS: [(&str, &str); 6] = [
    ("EC2 Spot Instance Interruption Warning", "\"instance-action\":\"terminate\""),
    ("EC2 Instance Rebalance Recommendation", "\"a\":1"),
    ("EC2 Instance State-change Notification", "\"state\":\"shutting-down\""),
    ("EC2 Instance State-change Notification", "\"state\":\"terminated\""),
    ("EC2 Instance State-change Notification", "\"state\":\"running\""),
    ("EC2 Capacity Reservation Instance Interruption Warning", "\"a\":1"),
];

impl Generator {
    pub(super) fn new(clusters: usize, events: usize) -> Self {
        let instances = (events / EVENTS_PER_INSTANCE).max(1);
        Self { clusters: clusters as u64, instances: instances as u64 }
    }

    /// One event; the world learns of its instances and of who should hear of it.
    pub(super) fn event(&mut self, index: usize, world: &mut World, rng: &mut Rng) -> String {
        let event_id = format!("00000000-0000-4000-8000-{index:012x}");
        if rng.chance(ZONAL_PER_MILLE) {
            (0..self.clusters as usize).for_each(|cluster| world.expect(&event_id, cluster));
            let detail = "{\"version\":\"0.0.1\"}";
            return body(&event_id, "aws.arc-zonal-shift", "Autoshift In Progress", detail);
        }
        if rng.chance(HEALTH_PER_MILLE) {
            let mut entities = Vec::new();
            for _ in 0..1 + rng.below(8) {
                let (id, cluster) = self.instance(world, rng);
                cluster.into_iter().for_each(|cluster| world.expect(&event_id, cluster));
                entities.push(format!("{{\"entityValue\":\"{id}\"}}"));
            }
            let detail = format!(
                "{{\"service\":\"EC2\",\"eventTypeCategory\":\"scheduledChange\",\
                 \"affectedEntities\":[{}]}}",
                entities.join(",")
            );
            return body(&event_id, "aws.health", "AWS Health Event", &detail);
        }
        let (detail_type, more) = KINDS[rng.below(KINDS.len() as u64) as usize];
        let (id, cluster) = self.instance(world, rng);
        if !more.contains("running") {
            cluster.into_iter().for_each(|cluster| world.expect(&event_id, cluster));
        }
        let detail = format!("{{\"instance-id\":\"{id}\",{more}}}");
        body(&event_id, "aws.ec2", detail_type, &detail)
    }

    fn instance(&self, world: &mut World, rng: &mut Rng) -> (InstanceId, Option<usize>) {
        let number = rng.below(self.instances);
        let id = format!("i-0{number:016x}").parse().expect("one and sixteen digits are an id");
        // Whose it is follows from its number, so that it is the same every time.
        let mut fate = Rng::new(number);
        if fate.chance(STRANGERS_PER_MILLE) {
            return (id, None);
        }
        let cluster = fate.below(self.clusters) as usize;
        world.own(id, cluster);
        (id, Some(cluster))
    }
}

fn body(event_id: &str, source: &str, detail_type: &str, detail: &str) -> String {
    format!(
        "{{\"version\":\"0\",\"id\":\"{event_id}\",\"detail-type\":\"{detail_type}\",\
         \"source\":\"{source}\",\"account\":\"111122223333\",\"time\":\"2026-11-01T00:00:00Z\",\
         \"region\":\"eu-west-1\",\"resources\":[],\"detail\":{detail}}}"
    )
}
