//! Machine images: the terms that select them, their families and the aliases of families.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::described_by_field;
use super::selectors::{TagFilter, any_of, each_has_one_of, tag_filter};
use crate::schema::rules::{cel_list, rule};

/// Families EKS publishes images for, with the first part of their aliases.
const ALIASED: [(&str, AmiFamily); 6] = [
    ("al2", AmiFamily::AL2),
    ("al2023", AmiFamily::AL2023),
    ("bottlerocket", AmiFamily::Bottlerocket),
    ("windows2019", AmiFamily::Windows2019),
    ("windows2022", AmiFamily::Windows2022),
    ("windows2025", AmiFamily::Windows2025),
];

/// How the user data of an image is written, and which disks it has by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("type" = "string"), transform = described_by_field)]
pub enum AmiFamily {
    /// Amazon Linux 2: a shell script.
    AL2,
    /// Amazon Linux 2023: a nodeadm document.
    AL2023,
    /// Bottlerocket: TOML settings.
    Bottlerocket,
    /// The user data is used as it is.
    Custom,
    /// Windows Server 2019: a PowerShell script.
    Windows2019,
    /// Windows Server 2022: a PowerShell script.
    Windows2022,
    /// Windows Server 2025: a PowerShell script.
    Windows2025,
}

impl AmiFamily {
    /// The family of an alias such as `al2023@latest`.
    #[must_use]
    pub fn of_alias(alias: &str) -> Option<Self> {
        let (prefix, _) = alias.split_once('@')?;
        ALIASED.iter().find(|(name, _)| *name == prefix).map(|(_, family)| *family)
    }

    /// The family's name in a manifest.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AL2 => "AL2",
            Self::AL2023 => "AL2023",
            Self::Bottlerocket => "Bottlerocket",
            Self::Custom => "Custom",
            Self::Windows2019 => "Windows2019",
            Self::Windows2022 => "Windows2022",
            Self::Windows2025 => "Windows2025",
        }
    }

    /// Whether the family's images run Windows.
    #[must_use]
    pub fn is_windows(self) -> bool {
        matches!(self, Self::Windows2019 | Self::Windows2022 | Self::Windows2025)
    }
}

/// Selects machine images.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AmiSelectorTerm {
    /// An image EKS publishes, as `family@version`; the version `latest` follows new releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 30), extend("x-kubernetes-validations" = alias_rules()))]
    pub alias: Option<String>,
    /// The id of one image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "ami-[0-9a-z]+"))]
    pub id: Option<String>,
    /// The image's name, which is not its `Name` tag; may contain wildcards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Who owns the image: an account id, `self`, `amazon` or `aws-marketplace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The name or ARN of an SSM parameter that holds the image's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssm_parameter: Option<String>,
    /// Tags the image must have; `*` stands for any value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "tag_filter")]
    pub tags: Option<TagFilter>,
}

fn alias_rules() -> Value {
    let families = ALIASED.map(|(prefix, _)| prefix);
    let windows = ALIASED.iter().filter(|(_, family)| family.is_windows());
    let latest: Vec<String> = windows.map(|(prefix, _)| format!("{prefix}@latest")).collect();
    json!([
        rule(
            "self.matches('^[a-zA-Z0-9]+@.+$')",
            "alias must have the form 'family@version', for example 'al2023@latest'",
        ),
        rule(
            &format!("self.find('^[^@]+') in {}", cel_list(families)),
            &format!("the family of an alias must be one of '{}'", families.join("', '")),
        ),
        rule(
            &format!(
                "!self.startsWith('windows') || self in {}",
                cel_list(latest.iter().map(String::as_str)),
            ),
            "the version of a windows alias can only be 'latest'",
        ),
    ])
}

/// Rules over all terms of a class. Unlike those of other selectors these look at each term.
pub(super) fn terms_rules() -> Value {
    json!([
        each_has_one_of("amiSelectorTerms", &["tags", "id", "name", "alias", "ssmParameter"]),
        none_combines("id", &["alias", "tags", "name", "owner"]),
        none_combines("alias", &["id", "tags", "name", "owner"]),
        rule(
            "self.size() == 1 || !self.exists(x, has(x.alias))",
            "a term with 'alias' must be the only one of amiSelectorTerms",
        ),
    ])
}

fn none_combines(alone: &str, others: &[&str]) -> Value {
    rule(
        &format!("!self.exists(x, has(x.{alone}) && ({}))", any_of(others)),
        &format!("'{alone}' in amiSelectorTerms cannot be combined with '{}'", others.join("', '")),
    )
}

/// One rule per aliased family: `amiFamily` may repeat it or be `Custom`, nothing else.
pub(super) fn family_rules() -> impl Iterator<Item = Value> {
    ALIASED.iter().map(|(prefix, family)| {
        let family = family.name();
        rule(
            &format!(
                "!has(self.amiFamily) || self.amiFamily in ['Custom', '{family}'] || \
                 !self.amiSelectorTerms.exists(x, has(x.alias) && x.alias.startsWith('{prefix}@'))"
            ),
            &format!("amiFamily can only be '{family}' or 'Custom' with an alias of {prefix}"),
        )
    })
}
