//! The list of what is allowed.

use super::Permission::{Call, Implied};
use super::{Condition, Policy, Statement};
use crate::AwsAction;

/// What a launch makes.
const MADE: &[&str] = &[
    "arn:{partition}:ec2:{region}:*:fleet/*",
    "arn:{partition}:ec2:{region}:*:instance/*",
    "arn:{partition}:ec2:{region}:*:volume/*",
    "arn:{partition}:ec2:{region}:*:network-interface/*",
    "arn:{partition}:ec2:{region}:*:launch-template/*",
    "arn:{partition}:ec2:{region}:*:spot-instances-request/*",
];
const INSTANCES: &str = "arn:{partition}:ec2:{region}:*:instance/*";
const LAUNCH_TEMPLATES: &str = "arn:{partition}:ec2:{region}:*:launch-template/*";
const INSTANCE_PROFILES: &str = "arn:{partition}:iam::{account}:instance-profile/*";
const CLUSTER: &str = "arn:{partition}:eks:{region}:{account}:cluster/{cluster}";

const fn equals(key: &'static str, values: &'static [&'static str]) -> Condition {
    Condition { operator: "StringEquals", key, values }
}

const fn is_there(key: &'static str) -> Condition {
    Condition { operator: "StringLike", key, values: &["*"] }
}

/// What exists and belongs to the cluster and to one of its pools.
const OWN: &[Condition] = &[
    equals("aws:ResourceTag/kubernetes.io/cluster/{cluster}", &["owned"]),
    is_there("aws:ResourceTag/karpenter.sh/nodepool"),
];
/// What is made for the cluster and for one of its pools.
const FOR_CLUSTER: &[Condition] = &[
    equals("aws:RequestTag/kubernetes.io/cluster/{cluster}", &["owned"]),
    equals("aws:RequestTag/eks:eks-cluster-name", &["{cluster}"]),
    is_there("aws:RequestTag/karpenter.sh/nodepool"),
];
/// The same, while it is made.
const TAGGED_WHEN_MADE: &[Condition] = &[
    FOR_CLUSTER[0],
    FOR_CLUSTER[1],
    equals("ec2:CreateAction", &["RunInstances", "CreateFleet", "CreateLaunchTemplate"]),
    FOR_CLUSTER[2],
];
/// Tags that are set on instances when their nodes are known.
const TAGGED_LATER: &[Condition] = &[
    OWN[0],
    OWN[1],
    Condition {
        operator: "StringEqualsIfExists",
        key: "aws:RequestTag/eks:eks-cluster-name",
        values: &["{cluster}"],
    },
    Condition {
        operator: "ForAllValues:StringEquals",
        key: "aws:TagKeys",
        values: &["eks:eks-cluster-name", "karpenter.sh/nodeclaim", "Name"],
    },
];
/// An instance profile that is made for the cluster.
const NEW_PROFILE: &[Condition] = &[
    equals("aws:RequestTag/kubernetes.io/cluster/{cluster}", &["owned"]),
    equals("aws:RequestTag/eks:eks-cluster-name", &["{cluster}"]),
    equals("aws:RequestTag/topology.kubernetes.io/region", &["{region}"]),
    is_there("aws:RequestTag/karpenter.k8s.aws/ec2nodeclass"),
];
/// An instance profile of the cluster.
const OWN_PROFILE: &[Condition] = &[
    equals("aws:ResourceTag/kubernetes.io/cluster/{cluster}", &["owned"]),
    equals("aws:ResourceTag/topology.kubernetes.io/region", &["{region}"]),
    is_there("aws:ResourceTag/karpenter.k8s.aws/ec2nodeclass"),
];
/// An instance profile of the cluster that gets tags, which stay those of the cluster.
const TAGGED_PROFILE: &[Condition] = &[
    OWN_PROFILE[0],
    equals("aws:ResourceTag/eks:eks-cluster-name", &["{cluster}"]),
    OWN_PROFILE[1],
    NEW_PROFILE[0],
    NEW_PROFILE[1],
    NEW_PROFILE[2],
    OWN_PROFILE[2],
    NEW_PROFILE[3],
];

/// Everything that is allowed, and nothing else. Names are Karpenter's, so that who comes from there
/// sees what is the same.
pub const STATEMENTS: &[Statement] = &[
    Statement {
        policy: Policy::NodeLifecycle,
        sid: "AllowScopedEC2InstanceAccessActions",
        permissions: &[Call(AwsAction::RunInstances), Call(AwsAction::CreateFleet)],
        resources: &[
            "arn:{partition}:ec2:{region}::image/*",
            "arn:{partition}:ec2:{region}::snapshot/*",
            "arn:{partition}:ec2:{region}:*:security-group/*",
            "arn:{partition}:ec2:{region}:*:subnet/*",
            "arn:{partition}:ec2:{region}:*:capacity-reservation/*",
            "arn:{partition}:ec2:{region}:*:placement-group/*",
        ],
        conditions: &[],
        purpose: "launches use these; they belong to others",
    },
    Statement {
        policy: Policy::NodeLifecycle,
        sid: "AllowScopedEC2LaunchTemplateAccessActions",
        permissions: &[Call(AwsAction::RunInstances), Call(AwsAction::CreateFleet)],
        resources: &[LAUNCH_TEMPLATES],
        conditions: OWN,
        purpose: "launches use the templates made for them",
    },
    Statement {
        policy: Policy::NodeLifecycle,
        sid: "AllowScopedEC2InstanceActionsWithTags",
        permissions: &[
            Call(AwsAction::RunInstances),
            Call(AwsAction::CreateFleet),
            Call(AwsAction::CreateLaunchTemplate),
        ],
        resources: MADE,
        conditions: FOR_CLUSTER,
        purpose: "launches make these, marked as the cluster's; `RunInstances` is only ever a dry \
                  run, to try a node class",
    },
    Statement {
        policy: Policy::NodeLifecycle,
        sid: "AllowScopedResourceCreationTagging",
        permissions: &[Call(AwsAction::CreateTags)],
        resources: MADE,
        conditions: TAGGED_WHEN_MADE,
        purpose: "the marks, while it is made",
    },
    Statement {
        policy: Policy::NodeLifecycle,
        sid: "AllowScopedResourceTagging",
        permissions: &[Call(AwsAction::CreateTags)],
        resources: &[INSTANCES],
        conditions: TAGGED_LATER,
        purpose: "instances are named after their nodes",
    },
    Statement {
        policy: Policy::NodeLifecycle,
        sid: "AllowScopedDeletion",
        permissions: &[Call(AwsAction::TerminateInstances), Call(AwsAction::DeleteLaunchTemplate)],
        resources: &[INSTANCES, LAUNCH_TEMPLATES],
        conditions: OWN,
        purpose: "nodes that go, and templates that nobody uses",
    },
    Statement {
        policy: Policy::IamIntegration,
        sid: "AllowPassingInstanceRole",
        permissions: &[Implied("iam:PassRole")],
        resources: &["arn:{partition}:iam::{account}:role/{node_role}"],
        conditions: &[equals(
            "iam:PassedToService",
            &["ec2.amazonaws.com", "ec2.amazonaws.com.cn"],
        )],
        purpose: "instances get the role of nodes",
    },
    Statement {
        policy: Policy::IamIntegration,
        sid: "AllowScopedInstanceProfileCreationActions",
        permissions: &[Call(AwsAction::CreateInstanceProfile)],
        resources: &[INSTANCE_PROFILES],
        conditions: NEW_PROFILE,
        purpose: "`spec.role` of a node class becomes an instance profile",
    },
    Statement {
        policy: Policy::IamIntegration,
        sid: "AllowScopedInstanceProfileTagActions",
        permissions: &[Implied("iam:TagInstanceProfile")],
        resources: &[INSTANCE_PROFILES],
        conditions: TAGGED_PROFILE,
        purpose: "its marks, while it is made",
    },
    Statement {
        policy: Policy::IamIntegration,
        sid: "AllowScopedInstanceProfileActions",
        permissions: &[
            Call(AwsAction::AddRoleToInstanceProfile),
            Call(AwsAction::RemoveRoleFromInstanceProfile),
            Call(AwsAction::DeleteInstanceProfile),
        ],
        resources: &[INSTANCE_PROFILES],
        conditions: OWN_PROFILE,
        purpose: "its role, and its end with the class",
    },
    Statement {
        policy: Policy::EksIntegration,
        sid: "AllowAPIServerEndpointDiscovery",
        permissions: &[Call(AwsAction::DescribeCluster)],
        resources: &[CLUSTER],
        conditions: &[],
        purpose: "endpoint, certificate authority and version of the cluster",
    },
    Statement {
        policy: Policy::Interruption,
        sid: "AllowInterruptionQueueActions",
        permissions: &[
            Call(AwsAction::DeleteMessage),
            Call(AwsAction::GetQueueUrl),
            Call(AwsAction::ReceiveMessage),
        ],
        resources: &["arn:{partition}:sqs:{region}:{account}:{queue}"],
        conditions: &[],
        purpose: "notices",
    },
    Statement {
        policy: Policy::ZonalShift,
        sid: "AllowZonalShiftStatusReadOnly",
        permissions: &[Call(AwsAction::GetManagedResource)],
        resources: &["*"],
        conditions: &[equals("arc-zonal-shift:ResourceIdentifier", &[CLUSTER])],
        purpose: "zones that are shifted away from, with `--enable-zonal-shift`",
    },
    Statement {
        policy: Policy::ZonalShift,
        sid: "AllowZoneReadActions",
        permissions: &[Call(AwsAction::DescribeAvailabilityZones)],
        resources: &["*"],
        conditions: &[equals("aws:RequestedRegion", &["{region}"])],
        purpose: "the names of these zones, whose ids ARC tells",
    },
    Statement {
        policy: Policy::ResourceDiscovery,
        sid: "AllowRegionalReadActions",
        permissions: &[
            Call(AwsAction::DescribeCapacityReservations),
            Call(AwsAction::DescribeImages),
            Call(AwsAction::DescribeInstances),
            Call(AwsAction::DescribeInstanceStatus),
            Call(AwsAction::DescribeInstanceTypeOfferings),
            Call(AwsAction::DescribeInstanceTypes),
            Call(AwsAction::DescribeLaunchTemplates),
            Call(AwsAction::DescribePlacementGroups),
            Call(AwsAction::DescribeSecurityGroups),
            Call(AwsAction::DescribeSpotPriceHistory),
            Call(AwsAction::DescribeSubnets),
        ],
        resources: &["*"],
        conditions: &[equals("aws:RequestedRegion", &["{region}"])],
        purpose: "what node classes select, what is sold, what runs and how it does",
    },
    Statement {
        policy: Policy::ResourceDiscovery,
        sid: "AllowSSMReadActions",
        permissions: &[Call(AwsAction::GetParameter)],
        resources: &["arn:{partition}:ssm:{region}::parameter/aws/service/*"],
        conditions: &[],
        purpose: "AMI aliases; a `ssmParameter` of your own needs the same for it",
    },
    Statement {
        policy: Policy::ResourceDiscovery,
        sid: "AllowPricingReadActions",
        permissions: &[Call(AwsAction::GetProducts)],
        resources: &["*"],
        conditions: &[],
        purpose: "prices on demand",
    },
    Statement {
        policy: Policy::ResourceDiscovery,
        sid: "AllowUnscopedInstanceProfileListAction",
        permissions: &[Call(AwsAction::ListInstanceProfiles)],
        resources: &["*"],
        conditions: &[],
        purpose: "profiles that nobody uses any more",
    },
    Statement {
        policy: Policy::ResourceDiscovery,
        sid: "AllowInstanceProfileReadActions",
        permissions: &[Call(AwsAction::GetInstanceProfile)],
        resources: &[INSTANCE_PROFILES],
        conditions: &[],
        purpose: "whether a profile is there and has its role",
    },
];
