# A role for a service account: by IRSA, by Pod Identity, or by both while one follows the other.

terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.33"
    }
  }
}

variable "name" {
  type = string
}

variable "path" {
  type = string
}

variable "permissions_boundary" {
  type = string
}

variable "tags" {
  type = map(string)
}

variable "issuer" {
  description = "The OpenID Connect issuer without https://; null without IRSA"
  type        = string
}

variable "has_pod_identity" {
  type = bool
}

variable "partition" {
  type = string
}

variable "account" {
  type = string
}

variable "subject" {
  type = string
}

data "aws_iam_policy_document" "trust" {
  dynamic "statement" {
    for_each = var.issuer == null ? [] : [var.issuer]
    content {
      actions = ["sts:AssumeRoleWithWebIdentity"]
      principals {
        type        = "Federated"
        identifiers = ["arn:${var.partition}:iam::${var.account}:oidc-provider/${statement.value}"]
      }
      condition {
        test     = "StringEquals"
        variable = "${statement.value}:sub"
        values   = [var.subject]
      }
      condition {
        test     = "StringEquals"
        variable = "${statement.value}:aud"
        values   = ["sts.amazonaws.com"]
      }
    }
  }
  dynamic "statement" {
    for_each = var.has_pod_identity ? ["pods.eks.amazonaws.com"] : []
    content {
      actions = ["sts:AssumeRole", "sts:TagSession"]
      principals {
        type        = "Service"
        identifiers = [statement.value]
      }
    }
  }
}

resource "aws_iam_role" "this" {
  count                = 1
  name                 = var.name
  path                 = var.path
  permissions_boundary = var.permissions_boundary
  tags                 = var.tags
  assume_role_policy   = data.aws_iam_policy_document.trust.json
}

output "arn" {
  value = aws_iam_role.this[0].arn
}

output "name" {
  value = aws_iam_role.this[0].name
}
