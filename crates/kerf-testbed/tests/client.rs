//! The asynchronous client against a real API server.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kerf_testbed::{ControlPlane, Options, User, wait_until};
use kube::Api;
use kube::api::{ListParams, ObjectMeta, PostParams};

/// Milliseconds in practice; the machine may be compiling at the same time.
const GRANTED_AT_MOST: Duration = Duration::from_secs(30);

const READER: &str = "system:serviceaccount:kerf:reader";

const READER_ROLE: &str = "
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reads-config-maps}
rules:
- {apiGroups: [''], resources: [configmaps], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: readers-read-config-maps}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reads-config-maps}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: readers}
";

#[tokio::test]
async fn the_client_writes_as_administrator_and_is_held_to_a_users_role() {
    let options = Options::api_server().user(User::new(READER).in_group("readers"));
    let cluster = ControlPlane::start(options).unwrap();
    cluster.apply(READER_ROLE).unwrap();

    let admin = cluster.client().await.unwrap();
    let namespaces = Api::<Namespace>::all(admin.clone());
    assert!(namespaces.get_opt("default").await.unwrap().is_some());
    let config_map = ConfigMap {
        metadata: ObjectMeta { name: Some("written".to_owned()), ..ObjectMeta::default() },
        ..ConfigMap::default()
    };
    let config_maps = Api::<ConfigMap>::namespaced(admin, "default");
    config_maps.create(&PostParams::default(), &config_map).await.unwrap();

    // The server learns of a new role through a watch of its own.
    let granted = || cluster.kubectl_as(READER, &["get", "configmaps"]).is_ok();
    assert!(wait_until(GRANTED_AT_MOST, granted), "the role was not taken up");
    let reader = cluster.client_of(READER).await.unwrap();
    let seen = Api::<ConfigMap>::namespaced(reader.clone(), "default");
    let names: Vec<_> = seen
        .list(&ListParams::default())
        .await
        .unwrap()
        .into_iter()
        .filter_map(|found| found.metadata.name)
        .collect();
    assert!(names.contains(&"written".to_owned()), "{names:?}");

    let refused = seen.delete("written", &Default::default()).await.unwrap_err();
    assert!(refused.to_string().contains("cannot delete resource"), "{refused}");
    let refused = Api::<Namespace>::all(reader).list(&ListParams::default()).await.unwrap_err();
    assert!(refused.to_string().contains(READER), "{refused}");
}
