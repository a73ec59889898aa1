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

@policies@
output "policy_arns" {
  description = "The policies to attach to the controller's role, by name"
  value = {
@arns@
  }
}
