//! Arguments of `kerf install`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `kerf install`.
#[derive(Args)]
#[command(after_help = "Running it again goes on where it stopped.")]
pub(crate) struct Install {
    /// The EKS cluster's name
    #[arg(long, value_name = "NAME", env = "CLUSTER_NAME")]
    pub(crate) cluster: String,
    /// The region; that of your AWS settings if not given
    #[arg(long)]
    pub(crate) region: Option<String>,
    /// Where the controller runs
    #[arg(short, long, default_value = "karpenter")]
    pub(crate) namespace: String,
    /// How the controller gets its role
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) identity: IdentityChoice,
    /// Who fills the queue of interruption notices
    #[arg(long, value_enum, default_value = "rules")]
    pub(crate) interruption: Interruption,
    /// The nodes' role, used where it exists and made where not [default: KarpenterNodeRole-CLUSTER]
    #[arg(long, value_name = "NAME")]
    pub(crate) node_role: Option<String>,
    /// The controller's role [default: CLUSTER-karpenter]
    #[arg(long, value_name = "NAME")]
    pub(crate) controller_role: Option<String>,
    /// The ARN of a policy that bounds every role that is made
    #[arg(long, value_name = "ARN")]
    pub(crate) permissions_boundary: Option<String>,
    /// The path of roles and policies, as in /team/
    #[arg(long, value_name = "PATH", default_value = "/")]
    pub(crate) iam_path: String,
    /// The controller's image
    #[arg(long, value_name = "REPOSITORY:TAG")]
    pub(crate) image: Option<String>,
    /// A requirement of the pool `default`, which is made where there is one; repeatable
    #[arg(long, value_name = "KEY=V1,V2")]
    pub(crate) requirement: Vec<String>,
    /// The same from a file: a map in YAML, from a label to its allowed values
    #[arg(long, value_name = "FILE")]
    pub(crate) requirements: Option<PathBuf>,
    /// Make that pool as a Provisioner of v1alpha5
    #[arg(long)]
    pub(crate) legacy: bool,
    /// The subnets to tag for discovery [default: the cluster's private ones, or all it has]
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    pub(crate) subnets: Vec<String>,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print it for another tool instead; asks neither AWS nor the cluster
    #[arg(long, value_enum, value_name = "FORM")]
    pub(crate) print: Option<Form>,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Go on where another controller runs, or your kubeconfig seems to lead elsewhere
    #[arg(long)]
    pub(crate) force: bool,
    /// How long to wait for the stack, and for the controller
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub(crate) timeout_seconds: u64,
}

/// How the controller gets its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum IdentityChoice {
    /// Pod Identity where its agent is an active add-on, IRSA where not
    Auto,
    /// The service account names its role
    Irsa,
    /// EKS Pod Identity
    PodIdentity,
}

/// Who fills the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Interruption {
    /// A queue, and rules of EventBridge that fill it
    Rules,
    /// A queue that `kerf router` fills
    Router,
    /// No queue
    None,
}

impl Interruption {
    /// As the stack has it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Rules => "rules",
            Self::Router => "router",
            Self::None => "none",
        }
    }
}

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// The CloudFormation template
    Cfn,
    /// A call of the Terraform module
    Terraform,
    /// Values of the chart, and the command
    Helm,
    /// A cluster configuration of eksctl
    Eksctl,
    /// A construct of the CDK, in TypeScript
    Cdk,
    /// Every object in the cluster
    Yaml,
}
