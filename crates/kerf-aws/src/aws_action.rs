//! Every call the provider makes, by the permission it needs. Policies are made from this list, and
//! tests compare it with the calls that were really made.

use crate::provider::Bucket;

macro_rules! actions {
    ($($name:ident $service:literal $text:literal,)*) => {
        /// A call to AWS.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "each is named as AWS documents it")]
        pub enum AwsAction { $($name,)* }

        impl AwsAction {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The service, as permissions name it.
            #[must_use]
            pub const fn service(self) -> &'static str {
                match self { $(Self::$name => $service,)* }
            }

            /// The call.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The permission it needs, such as `ec2:CreateFleet`.
            #[must_use]
            pub const fn permission(self) -> &'static str {
                match self { $(Self::$name => concat!($service, ":", $text),)* }
            }
        }
    };
}

actions! {
    CreateFleet "ec2" "CreateFleet",
    RunInstances "ec2" "RunInstances",
    CreateLaunchTemplate "ec2" "CreateLaunchTemplate",
    DeleteLaunchTemplate "ec2" "DeleteLaunchTemplate",
    CreateTags "ec2" "CreateTags",
    TerminateInstances "ec2" "TerminateInstances",
    DescribeAvailabilityZones "ec2" "DescribeAvailabilityZones",
    DescribeCapacityReservations "ec2" "DescribeCapacityReservations",
    DescribeImages "ec2" "DescribeImages",
    DescribeInstances "ec2" "DescribeInstances",
    DescribeInstanceStatus "ec2" "DescribeInstanceStatus",
    DescribeInstanceTypeOfferings "ec2" "DescribeInstanceTypeOfferings",
    DescribeInstanceTypes "ec2" "DescribeInstanceTypes",
    DescribeLaunchTemplates "ec2" "DescribeLaunchTemplates",
    DescribePlacementGroups "ec2" "DescribePlacementGroups",
    DescribeSecurityGroups "ec2" "DescribeSecurityGroups",
    DescribeSpotPriceHistory "ec2" "DescribeSpotPriceHistory",
    DescribeSubnets "ec2" "DescribeSubnets",
    GetInstanceProfile "iam" "GetInstanceProfile",
    ListInstanceProfiles "iam" "ListInstanceProfiles",
    CreateInstanceProfile "iam" "CreateInstanceProfile",
    AddRoleToInstanceProfile "iam" "AddRoleToInstanceProfile",
    RemoveRoleFromInstanceProfile "iam" "RemoveRoleFromInstanceProfile",
    DeleteInstanceProfile "iam" "DeleteInstanceProfile",
    DescribeCluster "eks" "DescribeCluster",
    GetParameter "ssm" "GetParameter",
    GetProducts "pricing" "GetProducts",
    GetQueueUrl "sqs" "GetQueueUrl",
    ReceiveMessage "sqs" "ReceiveMessage",
    DeleteMessage "sqs" "DeleteMessage",
    GetManagedResource "arc-zonal-shift" "GetManagedResource",
}

impl AwsAction {
    /// The service, as the SDKs name it.
    pub(crate) fn service_id(self) -> &'static str {
        match self.service() {
            "ec2" => "EC2",
            "iam" => "IAM",
            "eks" => "EKS",
            "ssm" => "SSM",
            "sqs" => "SQS",
            "pricing" => "Pricing",
            "arc-zonal-shift" => "ARC Zonal Shift",
            other => other,
        }
    }

    /// The calls it is counted with, where the service is known to count.
    pub(crate) fn bucket(self) -> Option<Bucket> {
        match self {
            _ if self.service() != "ec2" => None,
            Self::CreateFleet | Self::RunInstances => Some(Bucket::Launches),
            Self::TerminateInstances => Some(Bucket::Terminations),
            Self::CreateTags => Some(Bucket::Tags),
            Self::CreateLaunchTemplate | Self::DeleteLaunchTemplate => Some(Bucket::Writes),
            _ => Some(Bucket::Reads),
        }
    }
}
