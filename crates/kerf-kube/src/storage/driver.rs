//! Which driver attaches a volume.

use k8s_openapi::api::core::v1 as core;

/// Plugins once built into Kubernetes → the drivers that took over. Public names, from the volume
/// migration tables of Kubernetes.
const TAKEN_OVER: [(&str, &str); 7] = [
    ("kubernetes.io/aws-ebs", "ebs.csi.aws.com"),
    ("kubernetes.io/gce-pd", "pd.csi.storage.gke.io"),
    ("kubernetes.io/azure-disk", "disk.csi.azure.com"),
    ("kubernetes.io/azure-file", "file.csi.azure.com"),
    ("kubernetes.io/cinder", "cinder.csi.openstack.org"),
    ("kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"),
    ("kubernetes.io/portworx-volume", "pxd.portworx.com"),
];

/// The driver of a volume, if the volume itself tells.
pub(super) fn of_volume(volume: &core::PersistentVolume) -> Option<String> {
    let spec = volume.spec.as_ref()?;
    let plugin = || spec.aws_elastic_block_store.as_ref().map(|_| "kubernetes.io/aws-ebs");
    match &spec.csi {
        Some(csi) => Some(csi.driver.clone()),
        None => plugin().map(current_name),
    }
}

/// The name in use for a provisioner.
pub(super) fn current_name(provisioner: &str) -> String {
    let taken_over = TAKEN_OVER.into_iter().find(|(old, _)| *old == provisioner);
    taken_over.map_or(provisioner, |(_, new)| new).to_owned()
}
