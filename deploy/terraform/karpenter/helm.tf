# The release of the chart. In a file of its own: what is in AWS can be made without it.

terraform {
  required_providers {
    helm = {
      source  = "hashicorp/helm"
      version = ">= 2.9"
    }
  }
}

resource "helm_release" "karpenter" {
  name             = var.helm_name
  namespace        = var.helm_namespace
  create_namespace = var.helm_create_namespace
  chart            = coalesce(var.chart, "${path.module}/../../charts/karpenter")
  version          = var.chart_version

  values = concat([yamlencode({
    serviceAccount = {
      name        = "karpenter"
      annotations = contains(["irsa", "both"], var.identity) ? { "eks.amazonaws.com/role-arn" = module.iam_assumable_role_karpenter.arn } : {}
    }
    settings = {
      clusterName       = var.cluster_name
      clusterEndpoint   = local.endpoint
      interruptionQueue = local.has_queue ? local.queue : ""
    }
    defaultPool = {
      requirements = coalesce(var.default_requirements, {})
      nodeRole     = local.node_role
    }
  })], var.helm_values)

  depends_on = [
    aws_iam_role_policy_attachment.karpenter_contoller_policy_attachment,
    aws_iam_role_policy_attachment.iam_integration,
    aws_sqs_queue_policy.interruption,
  ]
}

output "hr_manifest" {
  description = "The manifest of the release, as JSON"
  value       = helm_release.karpenter.manifest
  sensitive   = true
}
