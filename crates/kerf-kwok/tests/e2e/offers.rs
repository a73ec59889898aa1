//! What pools are offered: NodeOverlays, and node classes as they are written.

use std::num::NonZeroU32;
use std::sync::Arc;

use kerf_api::kwok_node_class::KWOKNodeClass;
use kerf_api::node_overlay::NodeOverlay;
use kerf_engine::action::{ActionKind, MetadataPatch};
use kerf_engine::condition::{Condition, Conditions, Status};
use kerf_engine::event::{Failure, Object, Outcome};
use kerf_engine::observed::{NodeClassStatus, Revision};
use kerf_engine::time::Time;
use kerf_kube::{Executor, Pace};
use kerf_kwok::Kwok;
use kerf_model::node_spec::NodeClassRef;
use kube::ResourceExt;
use kube::api::Api;
use serde_json::json;

use crate::cluster::Cluster;
use crate::manifest::{deployment, pool};

const OFTEN: NonZeroU32 = NonZeroU32::new(1_000).unwrap();

#[test]
fn an_overlay_that_makes_a_large_type_cheap_has_it_launched_and_says_that_it_is_in_force() {
    let cluster = Cluster::of("overlaid");
    let overlay = json!({
        "apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay",
        "metadata": { "name": "overlaid" },
        "spec": {
            "requirements": [
                { "key": "karpenter.sh/nodepool", "operator": "In", "values": [cluster.name] },
                { "key": "karpenter.kwok.sh/instance-cpu", "operator": "In", "values": ["64"] },
            ],
            "price": "0.0001",
        },
    });
    cluster.apply(&[overlay]);
    let overlays = Api::<NodeOverlay>::all(cluster.client());
    let is_ready = || {
        let overlay = cluster.block_on(overlays.get("overlaid")).unwrap();
        let conditions = overlay.status.and_then(|status| status.conditions).unwrap_or_default();
        conditions.iter().any(|it| it.type_ == "Ready" && it.status == "True")
    };
    cluster.wait("the overlay is in force", is_ready);
    cluster.apply(&[pool(cluster.name, json!({})), deployment(cluster.name, "web", 1, json!({}))]);
    cluster.wait("the pod is ready", || cluster.ready_pods() == 1);
    let nodes = cluster.nodes();
    let [node] = &nodes[..] else { panic!("{nodes:?}") };
    assert_eq!(node.labels()["karpenter.kwok.sh/instance-cpu"], "64");
    let claims = cluster.claims();
    assert_eq!(claims[0].annotations()["karpenter.sh/price-overlay-applied"], "true");
}

#[test]
fn a_node_class_is_written_only_at_the_version_it_was_decided_on() {
    let cluster = Cluster::of("classes");
    cluster.apply(&[json!({
        "apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass",
        "metadata": { "name": "classes" }, "spec": { "nodeRegistrationDelay": "3s" },
    })]);
    let classes = Api::<KWOKNodeClass>::all(cluster.client());
    let stored = || cluster.block_on(classes.get("classes")).unwrap();
    let class = NodeClassRef {
        group: "karpenter.kwok.sh".to_owned(),
        kind: "KWOKNodeClass".to_owned(),
        name: "classes".to_owned(),
    };
    let first = Revision(stored().resource_version().unwrap().parse().unwrap());
    let patch = MetadataPatch {
        finalizers: Some(vec!["example.com/held".to_owned()]),
        annotations: [("example.com/hash".to_owned(), "1".to_owned())].into(),
        ..MetadataPatch::default()
    };
    let kwok = Kwok::new(cluster.client(), kerf_catalog::kwok());
    let executor = Executor::new(cluster.client(), Arc::new(kwok), Pace::new(OFTEN, OFTEN));
    let carry_out = |kind| cluster.block_on(executor.carry_out(&kind));
    let patched = carry_out(ActionKind::PatchNodeClass {
        class: class.clone(),
        revision: first,
        patch: patch.clone(),
    });
    let Outcome::Stored(object) = patched else { panic!("{patched:?}") };
    let second = object.meta().revision;
    assert_eq!(stored().finalizers(), ["example.com/held"]);
    assert_eq!(stored().annotations()["example.com/hash"], "1");

    let unready = Conditions(vec![Condition {
        kind: "Ready".to_owned(),
        status: Status::False,
        reason: "SubnetsNotFound".to_owned(),
        message: "none".to_owned(),
        changed_at: Time::from_seconds(1_735_689_600),
        observed_generation: 1,
    }]);
    let status = Box::new(NodeClassStatus { conditions: unready, resolved: Arc::default() });
    let write = |revision| ActionKind::WriteNodeClassStatus {
        class: class.clone(),
        revision,
        status: status.clone(),
    };
    let late = carry_out(write(first));
    assert!(matches!(late, Outcome::Failed(Failure::Conflict)), "{late:?}");
    let written = carry_out(write(second));
    let Outcome::Stored(object) = written else { panic!("{written:?}") };
    let Object::NodeClass(read) = *object else { panic!("{object:?}") };
    assert_eq!(read.status.conditions, status.conditions, "what was written is read back");
    assert_eq!(read.spec["nodeRegistrationDelay"], "3s");

    // Nobody else takes it away.
    let patch = MetadataPatch { finalizers: Some(Vec::new()), ..MetadataPatch::default() };
    let revision = read.meta.revision;
    let freed = carry_out(ActionKind::PatchNodeClass { class, revision, patch });
    assert!(matches!(freed, Outcome::Stored(_)), "{freed:?}");
}
