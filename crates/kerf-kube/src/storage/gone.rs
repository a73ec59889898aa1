//! Storage objects that are gone.

use super::Storage;

impl Storage {
    /// Forgets a claim.
    pub fn remove_claim(&mut self, namespace: &str, name: &str) {
        self.claims.remove(&(namespace.to_owned(), name.to_owned()));
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
    }

    /// Forgets every volume: all will be listed anew.
    pub fn clear_volumes(&mut self) {
        self.volumes.clear();
    }

    /// Forgets every storage class: all will be listed anew.
    pub fn clear_classes(&mut self) {
        self.classes.clear();
    }

    /// The claim a volume belongs to, as `namespace/name`, if the volume is known and claimed.
    #[must_use]
    pub fn claim_of_volume(&self, volume: &str) -> Option<String> {
        let claim = self.volumes.get(volume)?.spec.as_ref()?.claim_ref.as_ref()?;
        Some(format!("{}/{}", claim.namespace.as_deref()?, claim.name.as_deref()?))
    }
}
