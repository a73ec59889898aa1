# Written by `cargo xtask policies` from crates/kerf-aws/src/iam.

resource "aws_iam_policy" "karpenter_contoller" {
  name   = "karpenter-policy-${local.cluster}"
  path   = local.path
  tags   = var.tags
  policy = <<-EOT
    {
      "Statement": [
        {
          "Action": [
            "ec2:RunInstances",
            "ec2:CreateFleet"
          ],
          "Effect": "Allow",
          "Resource": [
            "arn:${local.partition}:ec2:${local.region}::image/*",
            "arn:${local.partition}:ec2:${local.region}::snapshot/*",
            "arn:${local.partition}:ec2:${local.region}:*:security-group/*",
            "arn:${local.partition}:ec2:${local.region}:*:subnet/*",
            "arn:${local.partition}:ec2:${local.region}:*:capacity-reservation/*",
            "arn:${local.partition}:ec2:${local.region}:*:placement-group/*"
          ],
          "Sid": "AllowScopedEC2InstanceAccessActions"
        },
        {
          "Action": [
            "ec2:RunInstances",
            "ec2:CreateFleet"
          ],
          "Condition": {
            "StringEquals": {
              "aws:ResourceTag/kubernetes.io/cluster/${local.cluster}": "owned"
            },
            "StringLike": {
              "aws:ResourceTag/karpenter.sh/nodepool": "*"
            }
          },
          "Effect": "Allow",
          "Resource": "arn:${local.partition}:ec2:${local.region}:*:launch-template/*",
          "Sid": "AllowScopedEC2LaunchTemplateAccessActions"
        },
        {
          "Action": [
            "ec2:RunInstances",
            "ec2:CreateFleet",
            "ec2:CreateLaunchTemplate"
          ],
          "Condition": {
            "StringEquals": {
              "aws:RequestTag/eks:eks-cluster-name": "${local.cluster}",
              "aws:RequestTag/kubernetes.io/cluster/${local.cluster}": "owned"
            },
            "StringLike": {
              "aws:RequestTag/karpenter.sh/nodepool": "*"
            }
          },
          "Effect": "Allow",
          "Resource": [
            "arn:${local.partition}:ec2:${local.region}:*:fleet/*",
            "arn:${local.partition}:ec2:${local.region}:*:instance/*",
            "arn:${local.partition}:ec2:${local.region}:*:volume/*",
            "arn:${local.partition}:ec2:${local.region}:*:network-interface/*",
            "arn:${local.partition}:ec2:${local.region}:*:launch-template/*",
            "arn:${local.partition}:ec2:${local.region}:*:spot-instances-request/*"
          ],
          "Sid": "AllowScopedEC2InstanceActionsWithTags"
        },
        {
          "Action": [
            "ec2:CreateTags"
          ],
          "Condition": {
            "StringEquals": {
              "aws:RequestTag/eks:eks-cluster-name": "${local.cluster}",
              "aws:RequestTag/kubernetes.io/cluster/${local.cluster}": "owned",
              "ec2:CreateAction": [
                "RunInstances",
                "CreateFleet",
                "CreateLaunchTemplate"
              ]
            },
            "StringLike": {
              "aws:RequestTag/karpenter.sh/nodepool": "*"
            }
          },
          "Effect": "Allow",
          "Resource": [
            "arn:${local.partition}:ec2:${local.region}:*:fleet/*",
            "arn:${local.partition}:ec2:${local.region}:*:instance/*",
            "arn:${local.partition}:ec2:${local.region}:*:volume/*",
            "arn:${local.partition}:ec2:${local.region}:*:network-interface/*",
            "arn:${local.partition}:ec2:${local.region}:*:launch-template/*",
            "arn:${local.partition}:ec2:${local.region}:*:spot-instances-request/*"
          ],
          "Sid": "AllowScopedResourceCreationTagging"
        },
        {
          "Action": [
            "ec2:CreateTags"
          ],
          "Condition": {
            "ForAllValues:StringEquals": {
              "aws:TagKeys": [
                "eks:eks-cluster-name",
                "karpenter.sh/nodeclaim",
                "Name"
              ]
            },
            "StringEquals": {
              "aws:ResourceTag/kubernetes.io/cluster/${local.cluster}": "owned"
            },
            "StringEqualsIfExists": {
              "aws:RequestTag/eks:eks-cluster-name": "${local.cluster}"
            },
            "StringLike": {
              "aws:ResourceTag/karpenter.sh/nodepool": "*"
            }
          },
          "Effect": "Allow",
          "Resource": "arn:${local.partition}:ec2:${local.region}:*:instance/*",
          "Sid": "AllowScopedResourceTagging"
        },
        {
          "Action": [
            "ec2:TerminateInstances",
            "ec2:DeleteLaunchTemplate"
          ],
          "Condition": {
            "StringEquals": {
              "aws:ResourceTag/kubernetes.io/cluster/${local.cluster}": "owned"
            },
            "StringLike": {
              "aws:ResourceTag/karpenter.sh/nodepool": "*"
            }
          },
          "Effect": "Allow",
          "Resource": [
            "arn:${local.partition}:ec2:${local.region}:*:instance/*",
            "arn:${local.partition}:ec2:${local.region}:*:launch-template/*"
          ],
          "Sid": "AllowScopedDeletion"
        },
        {
          "Action": [
            "eks:DescribeCluster"
          ],
          "Effect": "Allow",
          "Resource": "arn:${local.partition}:eks:${local.region}:${local.account}:cluster/${local.cluster}",
          "Sid": "AllowAPIServerEndpointDiscovery"
        },
        {
          "Action": [
            "sqs:DeleteMessage",
            "sqs:GetQueueUrl",
            "sqs:ReceiveMessage"
          ],
          "Effect": "Allow",
          "Resource": "arn:${local.partition}:sqs:${local.region}:${local.account}:${local.queue}",
          "Sid": "AllowInterruptionQueueActions"
        },
        {
          "Action": [
            "arc-zonal-shift:GetManagedResource"
          ],
          "Condition": {
            "StringEquals": {
              "arc-zonal-shift:ResourceIdentifier": "arn:${local.partition}:eks:${local.region}:${local.account}:cluster/${local.cluster}"
            }
          },
          "Effect": "Allow",
          "Resource": "*",
          "Sid": "AllowZonalShiftStatusReadOnly"
        },
        {
          "Action": [
            "ec2:DescribeAvailabilityZones"
          ],
          "Condition": {
            "StringEquals": {
              "aws:RequestedRegion": "${local.region}"
            }
          },
          "Effect": "Allow",
          "Resource": "*",
          "Sid": "AllowZoneReadActions"
        },
        {
          "Action": [
            "ec2:DescribeCapacityReservations",
            "ec2:DescribeImages",
            "ec2:DescribeInstances",
            "ec2:DescribeInstanceStatus",
            "ec2:DescribeInstanceTypeOfferings",
            "ec2:DescribeInstanceTypes",
            "ec2:DescribeLaunchTemplates",
            "ec2:DescribePlacementGroups",
            "ec2:DescribeSecurityGroups",
            "ec2:DescribeSpotPriceHistory",
            "ec2:DescribeSubnets"
          ],
          "Condition": {
            "StringEquals": {
              "aws:RequestedRegion": "${local.region}"
            }
          },
          "Effect": "Allow",
          "Resource": "*",
          "Sid": "AllowRegionalReadActions"
        },
        {
          "Action": [
            "ssm:GetParameter"
          ],
          "Effect": "Allow",
          "Resource": "arn:${local.partition}:ssm:${local.region}::parameter/aws/service/*",
          "Sid": "AllowSSMReadActions"
        },
        {
          "Action": [
            "pricing:GetProducts"
          ],
          "Effect": "Allow",
          "Resource": "*",
          "Sid": "AllowPricingReadActions"
        },
        {
          "Action": [
            "iam:ListInstanceProfiles"
          ],
          "Effect": "Allow",
          "Resource": "*",
          "Sid": "AllowUnscopedInstanceProfileListAction"
        },
        {
          "Action": [
            "iam:GetInstanceProfile"
          ],
          "Effect": "Allow",
          "Resource": "arn:${local.partition}:iam::${local.account}:instance-profile/*",
          "Sid": "AllowInstanceProfileReadActions"
        }
      ],
      "Version": "2012-10-17"
    }
  EOT
}

resource "aws_iam_policy" "iam_integration" {
  name   = "karpenter-iam-policy-${local.cluster}"
  path   = local.path
  tags   = var.tags
  policy = <<-EOT
    {
      "Statement": [
        {
          "Action": [
            "iam:PassRole"
          ],
          "Condition": {
            "StringEquals": {
              "iam:PassedToService": [
                "ec2.amazonaws.com",
                "ec2.amazonaws.com.cn"
              ]
            }
          },
          "Effect": "Allow",
          "Resource": "arn:${local.partition}:iam::${local.account}:role/${local.node_role}",
          "Sid": "AllowPassingInstanceRole"
        },
        {
          "Action": [
            "iam:CreateInstanceProfile"
          ],
          "Condition": {
            "StringEquals": {
              "aws:RequestTag/eks:eks-cluster-name": "${local.cluster}",
              "aws:RequestTag/kubernetes.io/cluster/${local.cluster}": "owned",
              "aws:RequestTag/topology.kubernetes.io/region": "${local.region}"
            },
            "StringLike": {
              "aws:RequestTag/karpenter.k8s.aws/ec2nodeclass": "*"
            }
          },
          "Effect": "Allow",
          "Resource": "arn:${local.partition}:iam::${local.account}:instance-profile/*",
          "Sid": "AllowScopedInstanceProfileCreationActions"
        },
        {
          "Action": [
            "iam:TagInstanceProfile"
          ],
          "Condition": {
            "StringEquals": {
              "aws:RequestTag/eks:eks-cluster-name": "${local.cluster}",
              "aws:RequestTag/kubernetes.io/cluster/${local.cluster}": "owned",
              "aws:RequestTag/topology.kubernetes.io/region": "${local.region}",
              "aws:ResourceTag/eks:eks-cluster-name": "${local.cluster}",
              "aws:ResourceTag/kubernetes.io/cluster/${local.cluster}": "owned",
              "aws:ResourceTag/topology.kubernetes.io/region": "${local.region}"
            },
            "StringLike": {
              "aws:RequestTag/karpenter.k8s.aws/ec2nodeclass": "*",
              "aws:ResourceTag/karpenter.k8s.aws/ec2nodeclass": "*"
            }
          },
          "Effect": "Allow",
          "Resource": "arn:${local.partition}:iam::${local.account}:instance-profile/*",
          "Sid": "AllowScopedInstanceProfileTagActions"
        },
        {
          "Action": [
            "iam:AddRoleToInstanceProfile",
            "iam:RemoveRoleFromInstanceProfile",
            "iam:DeleteInstanceProfile"
          ],
          "Condition": {
            "StringEquals": {
              "aws:ResourceTag/kubernetes.io/cluster/${local.cluster}": "owned",
              "aws:ResourceTag/topology.kubernetes.io/region": "${local.region}"
            },
            "StringLike": {
              "aws:ResourceTag/karpenter.k8s.aws/ec2nodeclass": "*"
            }
          },
          "Effect": "Allow",
          "Resource": "arn:${local.partition}:iam::${local.account}:instance-profile/*",
          "Sid": "AllowScopedInstanceProfileActions"
        }
      ],
      "Version": "2012-10-17"
    }
  EOT
}
