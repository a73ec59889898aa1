output "karpenter_iam" {
  description = "The ARN of the policy made for the controller"
  value       = aws_iam_policy.karpenter_contoller.arn
}

output "iam_role_arn" {
  description = "The controller's role"
  value       = module.iam_assumable_role_karpenter.arn
}

output "iam_role_name" {
  value = module.iam_assumable_role_karpenter.name
}

output "node_iam_role_name" {
  description = "What to set as spec.role of an EC2NodeClass"
  value       = local.node_role
}

output "node_iam_role_arn" {
  value = "arn:${local.partition}:iam::${local.account}:role${local.makes_role ? local.path : "/"}${local.node_role}"
}

output "instance_profile_name" {
  description = "What to set as spec.instanceProfile of an EC2NodeClass that has no role"
  value       = aws_iam_instance_profile.karpenter.name
}

output "queue_name" {
  value = try(aws_sqs_queue.interruption[0].name, null)
}

output "queue_url" {
  value = try(aws_sqs_queue.interruption[0].url, null)
}

output "queue_arn" {
  value = try(aws_sqs_queue.interruption[0].arn, null)
}

output "event_rules" {
  description = "The names of the rules"
  value       = { for key, rule in aws_cloudwatch_event_rule.interruption : key => rule.name }
}

output "namespace" {
  value = var.helm_namespace
}

output "service_account" {
  value = "karpenter"
}
