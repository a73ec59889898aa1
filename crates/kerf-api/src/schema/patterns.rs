//! The regular expressions of the API, each named after what it admits.

/// A qualified name: optional DNS prefix and `/`, then a name. Requirement keys, taint keys and values.
pub(crate) const QUALIFIED_NAME: &str = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\/))?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$";
/// A label value; may be empty.
pub(crate) const LABEL_VALUE: &str = r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$";
/// A Kubernetes resource quantity.
pub(crate) const QUANTITY: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";
/// An eviction threshold: a percentage up to 100 with at most two decimals, or an amount that is not
/// negative.
pub(crate) const EVICTION_THRESHOLD: &str = r"^((([0-9]{1,2}(\.[0-9]{1,2})?|100(\.0{1,2})?)%)|(\+?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?))$";
/// Hours, minutes and seconds in any order: `1h30m`.
pub(crate) const DURATION: &str = r"^([0-9]+(s|m|h))+$";
/// As [`DURATION`], or the word `Never`.
pub(crate) const DURATION_OR_NEVER: &str = r"^(([0-9]+(s|m|h))+|Never)$";
/// A percentage up to 100, or a count.
pub(crate) const BUDGET_NODES: &str = "^((100|[0-9]{1,2})%|[0-9]+)$";
/// A cron macro or five fields.
pub(crate) const BUDGET_SCHEDULE: &str =
    r"^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|((.+)\s(.+)\s(.+)\s(.+)\s(.+))$";
/// Whole hours and minutes.
pub(crate) const BUDGET_DURATION: &str = r"^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$";
/// A non-negative decimal price.
pub(crate) const PRICE: &str = r"^\d+(\.\d+)?$";
/// A signed amount, or a signed percentage that takes away at most everything.
pub(crate) const PRICE_ADJUSTMENT: &str =
    r"^(([+-]{1}(\d*\.?\d+))|(\+{1}\d*\.?\d+%)|(^(-\d{1,2}(\.\d+)?%)$)|(-100%))$";
/// The type of a condition.
pub(crate) const CONDITION_TYPE: &str = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";
/// The reason of a condition.
pub(crate) const CONDITION_REASON: &str = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";
/// The reason of a NodeClaim's condition, which may be empty.
pub(crate) const OPTIONAL_CONDITION_REASON: &str = "^([A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?|)$";
