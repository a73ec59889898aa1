pub(crate) const CAPACITY_TYPE: &str = "karpenter.sh/capacity-type";
pub(crate) const NODEPOOL: &str = "karpenter.sh/nodepool";
pub(crate) const HOSTNAME: &str = "kubernetes.io/hostname";
pub(crate) mod aws {
    pub(crate) const REQUIREMENT_LABELS: &[&str] = &["karpenter.k8s.aws/instance-cpu"];
    pub(crate) const OVERLAY_LABELS: &[&str] = &["karpenter.k8s.aws/instance-cpu"];
}
pub(crate) mod kwok {
    pub(crate) const REQUIREMENT_LABELS: &[&str] = &["karpenter.kwok.sh/instance-cpu"];
}
