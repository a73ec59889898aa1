//! Storage objects that are gone.

use super::{Storage, named_volume};

impl Storage {
    /// Forgets a claim.
    pub fn remove_claim(&mut self, namespace: &str, name: &str) {
        let key = (namespace.to_owned(), name.to_owned());
        let Some(claim) = self.claims.remove(&key) else { return };
        let Some(volume) = named_volume(&claim) else { return };
        if let Some(naming) = self.naming.get_mut(volume) {
            naming.remove(&key);
            if naming.is_empty() {
                self.naming.remove(volume);
            }
        }
    }

    /// Forgets a volume.
    pub fn remove_volume(&mut self, name: &str) {
        self.volumes.remove(name);
    }

    /// Forgets a storage class.
    pub fn remove_class(&mut self, name: &str) {
        self.classes.remove(name);
    }

    /// Forgets every claim: all will be listed anew.
    pub fn clear_claims(&mut self) {
        self.claims.clear();
        self.naming.clear();
    }

    /// Forgets every volume: all will be listed anew.
    pub fn clear_volumes(&mut self) {
        self.volumes.clear();
    }

    /// Forgets every storage class: all will be listed anew.
    pub fn clear_classes(&mut self) {
        self.classes.clear();
    }

    /// The claims whose pods depend on a volume: those that name it, and the one it is reserved for.
    pub(crate) fn claims_concerned(&self, volume: &str) -> Vec<(String, String)> {
        let naming = self.naming.get(volume).into_iter().flatten().cloned();
        let known = self.volumes.get(volume).and_then(|volume| volume.spec.as_ref());
        let reserved = known
            .and_then(|spec| spec.claim_ref.as_ref())
            .and_then(|claim| Some((claim.namespace.clone()?, claim.name.clone()?)));
        naming.chain(reserved).collect()
    }

    /// The claim a volume belongs to, as `namespace/name`, if the volume is known and claimed.
    #[must_use]
    pub fn claim_of_volume(&self, volume: &str) -> Option<String> {
        let claim = self.volumes.get(volume)?.spec.as_ref()?.claim_ref.as_ref()?;
        Some(format!("{}/{}", claim.namespace.as_deref()?, claim.name.as_deref()?))
    }
}
