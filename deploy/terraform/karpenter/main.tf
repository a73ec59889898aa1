# Kerf's controller for an EKS cluster: its role, the nodes' role and instance profile, the
# interruption queue with its rules, and the release of the chart (helm.tf).
#
#   module "karpenter" {
#     source       = "./deploy/terraform/karpenter"
#     cluster_name = "my-cluster"
#   }
#
# Addresses of resources are those of an older module that many have in their state, its spelling
# included: who comes from it plans no destruction.

terraform {
  required_version = ">= 1.3"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.33"
    }
  }
}

data "aws_partition" "current" {}

data "aws_region" "current" {}

data "aws_caller_identity" "current" {}

data "aws_eks_cluster" "cluster" {
  name = var.cluster_name
}

locals {
  partition    = data.aws_partition.current.partition
  region       = data.aws_region.current.name
  account      = data.aws_caller_identity.current.account_id
  cluster      = var.cluster_name
  endpoint     = coalesce(var.cluster_endpoint, data.aws_eks_cluster.cluster.endpoint)
  issuer       = coalesce(var.provider_url, try(data.aws_eks_cluster.cluster.identity[0].oidc[0].issuer, ""), "none")
  path         = coalesce(var.iam_path, "/")
  boundary     = var.permissions_boundary == "" ? null : var.permissions_boundary
  makes_role   = var.worker_iam_role_name == ""
  node_role    = local.makes_role ? aws_iam_role.node[0].name : var.worker_iam_role_name
  has_queue    = var.interruption != "none"
  queue        = coalesce(var.queue_name, var.cluster_name)
  auth_mode    = try(data.aws_eks_cluster.cluster.access_config[0].authentication_mode, "CONFIG_MAP")
  makes_access = var.create_access_entry == null ? local.auth_mode != "CONFIG_MAP" : var.create_access_entry

  node_policies = [
    "AmazonEKSWorkerNodePolicy",
    "AmazonEKS_CNI_Policy",
    "AmazonEC2ContainerRegistryPullOnly",
  ]
}

resource "aws_iam_role" "node" {
  count                = local.makes_role ? 1 : 0
  name                 = "KarpenterNodeRole-${var.cluster_name}"
  path                 = local.path
  permissions_boundary = local.boundary
  tags                 = var.tags
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "ec2.${data.aws_partition.current.dns_suffix}" }
    }]
  })
}

resource "aws_iam_role_policy_attachment" "node" {
  for_each   = local.makes_role ? toset(local.node_policies) : toset([])
  role       = aws_iam_role.node[0].name
  policy_arn = "arn:${local.partition}:iam::aws:policy/${each.key}"
}

resource "aws_iam_policy" "ssm_managed_instance" {
  name = "karpenter-ssm-policy-${var.cluster_name}"
  path = local.path
  tags = var.tags
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect = "Allow"
      Action = [
        "ssm:UpdateInstanceInformation",
        "ssmmessages:CreateControlChannel",
        "ssmmessages:CreateDataChannel",
        "ssmmessages:OpenControlChannel",
        "ssmmessages:OpenDataChannel",
        "ec2messages:AcknowledgeMessage",
        "ec2messages:DeleteMessage",
        "ec2messages:FailMessage",
        "ec2messages:GetEndpoint",
        "ec2messages:GetMessages",
        "ec2messages:SendReply",
      ]
      Resource = "*"
    }]
  })
}

resource "aws_iam_role_policy_attachment" "karpenter_ssm_policy" {
  role       = local.node_role
  policy_arn = aws_iam_policy.ssm_managed_instance.arn
}

resource "aws_iam_instance_profile" "karpenter" {
  name = "KarpenterNodeInstanceProfile-${var.cluster_name}"
  path = local.path
  role = local.node_role
  tags = var.tags
}

resource "aws_eks_access_entry" "node" {
  count         = local.makes_access ? 1 : 0
  cluster_name  = var.cluster_name
  principal_arn = "arn:${local.partition}:iam::${local.account}:role${local.makes_role ? local.path : "/"}${local.node_role}"
  type          = "EC2_LINUX"
  tags          = var.tags
}

module "iam_assumable_role_karpenter" {
  source               = "./iam-assumable-role"
  name                 = "karpenter-controller-${var.cluster_name}"
  path                 = local.path
  permissions_boundary = local.boundary
  tags                 = var.tags
  issuer               = contains(["irsa", "both"], var.identity) ? trimprefix(local.issuer, "https://") : null
  has_pod_identity     = contains(["pod-identity", "both"], var.identity)
  partition            = local.partition
  account              = local.account
  subject              = "system:serviceaccount:${var.helm_namespace}:karpenter"
}

resource "aws_eks_pod_identity_association" "karpenter" {
  count           = contains(["pod-identity", "both"], var.identity) ? 1 : 0
  cluster_name    = var.cluster_name
  namespace       = var.helm_namespace
  service_account = "karpenter"
  role_arn        = module.iam_assumable_role_karpenter.arn
}

resource "aws_iam_role_policy_attachment" "karpenter_contoller_policy_attachment" {
  role       = module.iam_assumable_role_karpenter.name
  policy_arn = aws_iam_policy.karpenter_contoller.arn
}

resource "aws_iam_role_policy_attachment" "iam_integration" {
  role       = module.iam_assumable_role_karpenter.name
  policy_arn = aws_iam_policy.iam_integration.arn
}

resource "aws_iam_service_linked_role" "spot" {
  count            = var.create_spot_service_linked_role ? 1 : 0
  aws_service_name = "spot.amazonaws.com"
}
