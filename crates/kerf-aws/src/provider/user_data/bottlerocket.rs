//! Bottlerocket: settings in TOML.

use std::collections::BTreeMap;

use kerf_api::ec2_node_class::MaxPods;
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, value};

use super::bottlerocket_settings::{KNOWN, Kind, table};
use super::{UserData, UserDataError, UserDataWarning};

const SETTINGS: &str = "settings";
const KUBERNETES: &str = "kubernetes";
const BOOTSTRAP_COMMANDS: &str = "bootstrap-commands";
/// The command that mounts the disks inside the instance; the number lets it run before others.
const MOUNT_STORAGE: &str = "000-mount-instance-storage";
/// What is kept on these disks, where the image must be told.
const STORAGE_FOLDERS: [&str; 3] = ["/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods"];

/// The class's own settings, with those of Kubernetes made anew from the known ones among them and
/// from what Kerf has to say.
pub(super) fn render(
    data: &UserData<'_>,
    warnings: &mut Vec<UserDataWarning>,
) -> Result<String, UserDataError> {
    let toml = |error: toml_edit::TomlError| UserDataError::Toml { why: error.to_string() };
    let mut own: DocumentMut = data.own().unwrap_or_default().parse().map_err(toml)?;
    let mut settings = match own.remove(SETTINGS) {
        Some(item) => as_table(SETTINGS, item)?,
        None => Table::new(),
    };
    let unknown = own.iter().map(|(key, _)| key.to_owned());
    warnings.extend(unknown.map(|field| UserDataWarning::UnknownSetting { field }));
    let path = format!("{SETTINGS}.{KUBERNETES}");
    let mut known = match settings.remove(KUBERNETES) {
        Some(item) => known_settings(&path, table(&path, &item)?, warnings)?,
        None => BTreeMap::new(),
    };
    say(data, &mut known);
    let mut kubernetes = Table::new();
    for (key, _) in KNOWN {
        if let Some(item) = known.remove(key) {
            kubernetes.insert(key, item);
        }
    }
    settings.insert(KUBERNETES, Item::Table(kubernetes));
    if data.is_striped() {
        mount_storage(&mut settings, data.binds_storage_by_default)?;
    }
    settings.set_dotted(false);
    let mut merged = DocumentMut::new();
    merged.insert(SETTINGS, Item::Table(settings));
    Ok(merged.to_string())
}

/// The known settings of a class, without empty tables. Others are left out: the image would not
/// boot with them.
fn known_settings(
    path: &str,
    own: &dyn TableLike,
    warnings: &mut Vec<UserDataWarning>,
) -> Result<BTreeMap<&'static str, Item>, UserDataError> {
    let mut known = BTreeMap::new();
    for (key, item) in own.iter() {
        let field = format!("{path}.{key}");
        let Some((name, kind)) = KNOWN.iter().find(|(name, _)| *name == key) else {
            warnings.push(UserDataWarning::UnknownSetting { field });
            continue;
        };
        kind.check(&field, item)?;
        match kind {
            Kind::TextMap | Kind::Taints | Kind::Table => {
                let table = as_table(&field, item.clone())?;
                if !table.is_empty() {
                    known.insert(*name, Item::Table(table));
                }
            }
            _ => {
                known.insert(*name, plain(item));
            }
        }
    }
    Ok(known)
}

/// Sets what Kerf has to say.
fn say(data: &UserData<'_>, settings: &mut BTreeMap<&'static str, Item>) {
    let (cluster, kubelet) = (data.cluster, data.kubelet);
    settings.insert("cluster-name", value(&cluster.name));
    settings.insert("api-server", value(&cluster.endpoint));
    if !cluster.ca_bundle.is_empty() {
        settings.insert("cluster-certificate", value(&cluster.ca_bundle));
    }
    if let Some(MaxPods::Count(count)) = kubelet.max_pods {
        settings.insert("max-pods", value(count));
    }
    if let Some(dns) = data.dns() {
        settings.insert("cluster-dns-ip", value(dns));
    }
    for (key, map) in [
        ("system-reserved", &kubelet.system_reserved),
        ("kube-reserved", &kubelet.kube_reserved),
        ("eviction-hard", &kubelet.eviction_hard),
        ("eviction-soft", &kubelet.eviction_soft),
        ("eviction-soft-grace-period", &kubelet.eviction_soft_grace_period),
    ] {
        if let Some(map) = map.as_ref().filter(|map| !map.is_empty()) {
            settings.insert(key, Item::Table(texts(map)));
        }
    }
    if let Some(seconds) = kubelet.eviction_max_pod_grace_period {
        settings.insert("eviction-max-pod-grace-period", value(i64::from(seconds)));
    }
    for (key, percent) in [
        ("image-gc-high-threshold-percent", kubelet.image_gc_high_threshold_percent),
        ("image-gc-low-threshold-percent", kubelet.image_gc_low_threshold_percent),
    ] {
        if let Some(percent) = percent {
            settings.insert(key, value(percent.to_string()));
        }
    }
    if let Some(is_enforced) = kubelet.cpu_cfs_quota {
        settings.insert("cpu-cfs-quota-enforced", value(is_enforced));
    }
    if !data.labels.is_empty() {
        let labels = settings.entry("node-labels").or_insert_with(toml_edit::table);
        if let Some(labels) = labels.as_table_like_mut() {
            for (key, text) in data.labels {
                labels.insert(key, value(text));
            }
        }
    }
    settings.remove("node-taints");
    if !data.taints.is_empty() {
        settings.insert("node-taints", Item::Table(taints(data)));
    }
}

/// The taints by key, each as `value:effect`.
fn taints(data: &UserData<'_>) -> Table {
    let mut taints = Table::new();
    for taint in data.taints {
        let text = format!("{}:{}", taint.value, taint.effect.as_str());
        let list = taints.entry(&taint.key).or_insert_with(|| value(Array::new()));
        if let Some(list) = list.as_array_mut() {
            list.push(text);
        }
    }
    taints
}

/// Has the disks inside the instance striped together at each boot, and used.
fn mount_storage(settings: &mut Table, binds_by_default: bool) -> Result<(), UserDataError> {
    let path = format!("{SETTINGS}.{BOOTSTRAP_COMMANDS}");
    let mut commands = match settings.remove(BOOTSTRAP_COMMANDS) {
        Some(item) => as_table(&path, item)?,
        None => Table::new(),
    };
    let mut bind = vec!["apiclient", "ephemeral-storage", "bind"];
    if !binds_by_default {
        bind.push("--dirs");
        bind.extend(STORAGE_FOLDERS);
    }
    let calls = [vec!["apiclient", "ephemeral-storage", "init"], bind];
    let mut command = Table::new();
    command.insert("commands", value(calls.map(Array::from_iter).into_iter().collect::<Array>()));
    command.insert("mode", value("always"));
    command.insert("essential", value(true));
    commands.insert(MOUNT_STORAGE, Item::Table(command));
    settings.insert(BOOTSTRAP_COMMANDS, Item::Table(commands));
    Ok(())
}

fn texts(map: &BTreeMap<String, String>) -> Table {
    map.iter().map(|(key, text)| (key.as_str(), text.as_str())).collect()
}

/// The table a path has, written with a header of its own.
fn as_table(path: &str, item: Item) -> Result<Table, UserDataError> {
    table(path, &item)?;
    let mut table = item.into_table().unwrap_or_default();
    table.set_dotted(false);
    table.set_implicit(false);
    Ok(table)
}

/// A value without the spaces and comments around it.
fn plain(item: &Item) -> Item {
    let mut item = item.clone();
    if let Some(value) = item.as_value_mut() {
        value.decor_mut().clear();
    }
    item
}
