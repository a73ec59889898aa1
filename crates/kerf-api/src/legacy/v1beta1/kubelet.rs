//! Which class each pool uses, now that kubelet settings belong to the class.
//!
//! Pools of one class with equal settings share it; having none is a setting too. The first such
//! group keeps the class, another gets a copy called `<class>-<pool>` after its first pool. First is
//! the oldest by creation time and then by position, so that a pool that is added later never
//! renames a class in use.

use serde_json::Value;

use super::BetaObject;

/// A class to be made.
pub(super) struct ClassPlan {
    /// Its name.
    pub(super) name: String,
    /// The position of the class it is made from.
    pub(super) origin: usize,
    /// Its kubelet settings.
    pub(super) kubelet: Option<Value>,
}

/// All classes, and the class name of each pool.
pub(super) struct Placement {
    pub(super) classes: Vec<ClassPlan>,
    pub(super) class_of_pool: Vec<String>,
}

/// Where kubelet settings are in a pool.
const FIELD: &str = "spec.template.spec.kubelet";

pub(super) fn place(pools: &mut [BetaObject<'_>], classes: &[BetaObject<'_>]) -> Placement {
    let mut class_of_pool: Vec<String> = pools.iter().map(class_name).collect();
    let mut own = Vec::new();
    let mut copies = Vec::new();
    for (origin, class) in classes.iter().enumerate() {
        let mut users: Vec<usize> = (0..pools.len())
            .filter(|index| uses_class(&pools[*index]) && class_of_pool[*index] == class.name)
            .collect();
        users.sort_by_key(|index| {
            let created = pools[*index].value["metadata"]["creationTimestamp"].as_str();
            (created.is_none(), created)
        });
        let mut groups: Vec<(Option<Value>, Vec<usize>)> = Vec::new();
        for user in users {
            let kubelet = kubelet(&pools[user]);
            match groups.iter_mut().find(|(known, _)| *known == kubelet) {
                Some((_, members)) => members.push(user),
                None => groups.push((kubelet, vec![user])),
            }
        }
        let mut groups = groups.into_iter();
        let first = groups.next().and_then(|(kubelet, _)| kubelet);
        own.push(ClassPlan { name: class.name.clone(), origin, kubelet: first });
        for (kubelet, members) in groups {
            let name = format!("{}-{}", class.name, pools[members[0]].name);
            for member in members {
                class_of_pool[member].clone_from(&name);
                let message = format!(
                    "moves to EC2NodeClass {name}, a copy of {} with these settings, because other \
                     pools of that class have other settings",
                    class.name
                );
                pools[member].findings.warning(FIELD, message);
            }
            copies.push(ClassPlan { name, origin, kubelet });
        }
    }
    refuse_without_class(pools, classes);
    own.append(&mut copies);
    Placement { classes: own, class_of_pool }
}

/// Settings that have nowhere to go must not be lost.
fn refuse_without_class(pools: &mut [BetaObject<'_>], classes: &[BetaObject<'_>]) {
    for pool in pools {
        let name = class_name(pool);
        let is_given = uses_class(pool) && classes.iter().any(|class| class.name == name);
        if kubelet(pool).is_some() && !is_given {
            let message = format!(
                "moves to the node class, and EC2NodeClass {name} of v1beta1 is not among the \
                 input; give both together"
            );
            pool.findings.error(FIELD, message);
        }
    }
}

/// The name of the class of a pool or a claim template.
fn class_name(pool: &BetaObject<'_>) -> String {
    let reference = &pool.value["spec"]["template"]["spec"]["nodeClassRef"];
    reference["name"].as_str().unwrap_or_default().to_owned()
}

/// Whether a pool's class is an EC2NodeClass; a reference that does not say means one.
fn uses_class(pool: &BetaObject<'_>) -> bool {
    let reference = &pool.value["spec"]["template"]["spec"]["nodeClassRef"];
    reference["kind"].as_str().is_none_or(|kind| kind.is_empty() || kind == "EC2NodeClass")
}

/// The settings of a pool, if it has some. Amounts that were written as numbers become text.
fn kubelet(pool: &BetaObject<'_>) -> Option<Value> {
    let kubelet = pool.value["spec"]["template"]["spec"].get("kubelet")?;
    let mut kubelet = kubelet.as_object().filter(|fields| !fields.is_empty())?.clone();
    for field in ["systemReserved", "kubeReserved"] {
        for amount in kubelet
            .get_mut(field)
            .and_then(Value::as_object_mut)
            .into_iter()
            .flat_map(|it| it.values_mut())
        {
            if let Value::Number(number) = amount {
                *amount = number.to_string().into();
            }
        }
    }
    Some(kubelet.into())
}
