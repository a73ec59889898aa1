//! Storage objects: no part of the world themselves but for attachments, they say where pods can run
//! and which volumes a node still has.

use std::sync::Arc;

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::storage::v1 as storage;
use kerf_engine::World;
use kerf_engine::event::{Event, Key, Kind, Object};
use kerf_engine::observed::{Name, NamespacedName, VolumeAttachment};

use super::listing::Source;
use super::meta::{meta, name_of};
use super::observer::{Observer, namespaced, seen};
use super::watch_update::Change;

impl Observer {
    /// A PersistentVolumeClaim changed: the pods that use it are read again.
    pub(super) fn volume_claim(
        &mut self,
        change: Change<core::PersistentVolumeClaim>,
        world: &World,
    ) -> Vec<Event> {
        let claim = match change {
            Change::Is(claim) => {
                let key = namespaced(&claim.metadata);
                self.storage.add_claim(*claim);
                key
            }
            Change::Was(claim) => {
                let key = namespaced(&claim.metadata);
                self.storage.remove_claim(&key.namespace, &key.name);
                key
            }
            change => {
                if matches!(change, Change::Relisting) {
                    self.storage.clear_claims();
                }
                return self.storage_listed(Source::VolumeClaim, &change, world);
            }
        };
        self.read_users(&[claim])
    }

    /// A PersistentVolume changed: the pods of the claims it belonged or belongs to are read again,
    /// and its attachments know whose it is.
    pub(super) fn volume(
        &mut self,
        change: Change<core::PersistentVolume>,
        world: &World,
    ) -> Vec<Event> {
        let (Change::Is(volume) | Change::Was(volume)) = &change else {
            if matches!(change, Change::Relisting) {
                self.storage.clear_volumes();
            }
            return self.storage_listed(Source::Volume, &change, world);
        };
        let name = name_of(&volume.metadata);
        let mut concerned = self.storage.claims_concerned(&name);
        match change {
            Change::Is(volume) => self.storage.add_volume(*volume),
            _ => self.storage.remove_volume(&name),
        }
        concerned.extend(self.storage.claims_concerned(&name));
        let concerned: Vec<NamespacedName> = (concerned.into_iter())
            .map(|(namespace, name)| NamespacedName {
                namespace: Arc::from(namespace),
                name: Arc::from(name),
            })
            .collect();
        let mut events = self.read_users(&concerned);
        events.extend(self.attachments_of(&name, world));
        events
    }

    /// A StorageClass changed, which happens rarely: all pods that wait are read again.
    pub(super) fn storage_class(
        &mut self,
        change: Change<storage::StorageClass>,
        world: &World,
    ) -> Vec<Event> {
        match change {
            Change::Is(class) => self.storage.add_class(*class),
            Change::Was(class) => self.storage.remove_class(&name_of(&class.metadata)),
            change => {
                if matches!(change, Change::Relisting) {
                    self.storage.clear_classes();
                }
                return self.storage_listed(Source::StorageClass, &change, world);
            }
        }
        self.read_again(|_| true)
    }

    /// A VolumeAttachment changed.
    pub(super) fn volume_attachment(
        &mut self,
        change: Change<storage::VolumeAttachment>,
        world: &World,
    ) -> Vec<Event> {
        if let Change::Is(attachment) = &change
            && let Some(volume) = &attachment.spec.source.persistent_volume_name
        {
            let names = self.attachments.entry(Arc::from(volume.as_str())).or_default();
            names.insert(name_of(&attachment.metadata));
        }
        if let Change::Was(attachment) = &change
            && let Some(volume) = attachment.spec.source.persistent_volume_name.as_deref()
            && let Some(names) = self.attachments.get_mut(volume)
        {
            names.remove(&name_of(&attachment.metadata));
            if names.is_empty() {
                self.attachments.remove(volume);
            }
        }
        let is_listed = matches!(change, Change::Listed(_));
        let source = Source::Kind(Kind::VolumeAttachment);
        if let Some(listed) = self.listings.named(&source).filter(|_| is_listed) {
            self.attachments.retain(|_, names| {
                names.retain(|name| listed.contains(&Key::VolumeAttachment(name.clone())));
                !names.is_empty()
            });
        }
        self.follow(
            source,
            change,
            world,
            |attachment| Key::VolumeAttachment(name_of(&attachment.metadata)),
            |this, attachment| {
                let volume = attachment.spec.source.persistent_volume_name.as_deref();
                Ok(vec![Object::VolumeAttachment(VolumeAttachment {
                    meta: meta(&attachment.metadata),
                    node: Arc::from(attachment.spec.node_name.as_str()),
                    volume_claim: volume.map(|volume| this.claim_of(volume)),
                })])
            },
        )
    }

    /// The attachments of a volume whose claim is another by now.
    fn attachments_of(&self, volume: &Name, world: &World) -> Vec<Event> {
        // Of a volume that is gone the last thing known holds.
        let Some(claim) = self.storage.claim_of_volume(volume) else { return Vec::new() };
        let claim = Some(Arc::from(claim));
        let names = self.attachments.get(volume).into_iter().flatten();
        let known = names.filter_map(|name| world.attachments.get(name));
        let outdated = known.filter(|attachment| attachment.volume_claim != claim);
        let renewed = |it: &Arc<VolumeAttachment>| {
            let attachment = VolumeAttachment { volume_claim: claim.clone(), ..(**it).clone() };
            seen(Object::VolumeAttachment(attachment))
        };
        outdated.map(renewed).collect()
    }

    /// The claim a volume belongs to. One that nobody knows yet is waited for under its own name.
    fn claim_of(&self, volume: &str) -> Name {
        let claim = self.storage.claim_of_volume(volume);
        Arc::from(claim.unwrap_or_else(|| format!("/{volume}")))
    }

    /// A storage watch lists anew or is heard from: pods that wait are read again once all is known.
    fn storage_listed<K>(
        &mut self,
        source: Source,
        change: &Change<K>,
        world: &World,
    ) -> Vec<Event> {
        match change {
            Change::Relisting => {
                self.listings.begin(source);
                Vec::new()
            }
            Change::Listed(at) => {
                let whole = self.listings.end(&source, *at, world);
                let mut events = self.read_again(|_| true);
                events.extend(whole);
                events
            }
            _ => Vec::new(),
        }
    }

    /// Reads the pods that use one of these claims again, once everything pods depend on is known.
    fn read_users(&mut self, claims: &[NamespacedName]) -> Vec<Event> {
        if !self.listings.know_what_pods_need() {
            return Vec::new();
        }
        let pods = self.dependent_pods.using(claims);
        self.reread(pods)
    }
}
