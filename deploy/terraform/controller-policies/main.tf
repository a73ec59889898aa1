# Written by `cargo xtask policies` from crates/kerf-aws/src/iam.
# The controller's permissions in an account, once per cluster. Attach them to its role:
#
#   module "kerf" {
#     source       = "./deploy/terraform/controller-policies"
#     cluster_name = "my-cluster"
#   }
#
#   resource "aws_iam_role_policy_attachment" "kerf" {
#     for_each   = module.kerf.policy_arns
#     role       = aws_iam_role.controller.name
#     policy_arn = each.value
#   }

terraform {
  required_version = ">= 1.3"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

variable "cluster_name" {
  description = "The name of the EKS cluster"
  type        = string
}

variable "node_role_name" {
  description = "The role of the nodes; KarpenterNodeRole-CLUSTER where nothing is said"
  type        = string
  default     = null
}

variable "interruption_queue_name" {
  description = "The interruption queue; that of the cluster's name where nothing is said"
  type        = string
  default     = null
}

data "aws_partition" "current" {}

data "aws_region" "current" {}

data "aws_caller_identity" "current" {}

locals {
  partition = data.aws_partition.current.partition
  region    = data.aws_region.current.name
  account   = data.aws_caller_identity.current.account_id
  cluster   = var.cluster_name
  node_role = coalesce(var.node_role_name, "KarpenterNodeRole-${var.cluster_name}")
  queue     = coalesce(var.interruption_queue_name, var.cluster_name)
}

resource "aws_iam_policy" "node_lifecycle" {
  name   = "KarpenterControllerNodeLifecyclePolicy-${local.cluster}"
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
        }
      ],
      "Version": "2012-10-17"
    }
  EOT
}

resource "aws_iam_policy" "iam_integration" {
  name   = "KarpenterControllerIAMIntegrationPolicy-${local.cluster}"
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

resource "aws_iam_policy" "eks_integration" {
  name   = "KarpenterControllerEKSIntegrationPolicy-${local.cluster}"
  policy = <<-EOT
    {
      "Statement": [
        {
          "Action": [
            "eks:DescribeCluster"
          ],
          "Effect": "Allow",
          "Resource": "arn:${local.partition}:eks:${local.region}:${local.account}:cluster/${local.cluster}",
          "Sid": "AllowAPIServerEndpointDiscovery"
        }
      ],
      "Version": "2012-10-17"
    }
  EOT
}

resource "aws_iam_policy" "interruption" {
  name   = "KarpenterControllerInterruptionPolicy-${local.cluster}"
  policy = <<-EOT
    {
      "Statement": [
        {
          "Action": [
            "sqs:DeleteMessage",
            "sqs:GetQueueUrl",
            "sqs:ReceiveMessage"
          ],
          "Effect": "Allow",
          "Resource": "arn:${local.partition}:sqs:${local.region}:${local.account}:${local.queue}",
          "Sid": "AllowInterruptionQueueActions"
        }
      ],
      "Version": "2012-10-17"
    }
  EOT
}

resource "aws_iam_policy" "zonal_shift" {
  name   = "KarpenterControllerZonalShiftPolicy-${local.cluster}"
  policy = <<-EOT
    {
      "Statement": [
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
        }
      ],
      "Version": "2012-10-17"
    }
  EOT
}

resource "aws_iam_policy" "resource_discovery" {
  name   = "KarpenterControllerResourceDiscoveryPolicy-${local.cluster}"
  policy = <<-EOT
    {
      "Statement": [
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

output "policy_arns" {
  description = "The policies to attach to the controller's role, by name"
  value = {
    node_lifecycle     = aws_iam_policy.node_lifecycle.arn
    iam_integration    = aws_iam_policy.iam_integration.arn
    eks_integration    = aws_iam_policy.eks_integration.arn
    interruption       = aws_iam_policy.interruption.arn
    zonal_shift        = aws_iam_policy.zonal_shift.arn
    resource_discovery = aws_iam_policy.resource_discovery.arn
  }
}
