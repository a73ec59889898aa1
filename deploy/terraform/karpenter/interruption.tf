# The queue that notices come from, and the rules that fill it. With the event router there is a queue
# and no rule: the router fills it.

locals {
  rules = {
    ScheduledChangeRule                 = ["aws.health", "AWS Health Event"]
    SpotInterruptionRule                = ["aws.ec2", "EC2 Spot Instance Interruption Warning"]
    RebalanceRule                       = ["aws.ec2", "EC2 Instance Rebalance Recommendation"]
    InstanceStateChangeRule             = ["aws.ec2", "EC2 Instance State-change Notification"]
    CapacityReservationInterruptionRule = ["aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"]
  }
}

resource "aws_sqs_queue" "interruption" {
  count                     = local.has_queue ? 1 : 0
  name                      = local.queue
  message_retention_seconds = 300
  sqs_managed_sse_enabled   = true
  tags                      = merge(var.tags, { "kerf.sh/cluster" = var.cluster_name })
}

resource "aws_sqs_queue_policy" "interruption" {
  count     = local.has_queue ? 1 : 0
  queue_url = aws_sqs_queue.interruption[0].url
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "EventsAndQueuesSend"
        Effect    = "Allow"
        Principal = { Service = ["events.amazonaws.com", "sqs.amazonaws.com"] }
        Action    = "sqs:SendMessage"
        Resource  = aws_sqs_queue.interruption[0].arn
      },
      {
        Sid       = "OnlyOverTls"
        Effect    = "Deny"
        Principal = "*"
        Action    = "sqs:*"
        Resource  = aws_sqs_queue.interruption[0].arn
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      },
    ]
  })
}

resource "aws_cloudwatch_event_rule" "interruption" {
  for_each = var.interruption == "rules" ? local.rules : {}
  # A rule's name has 64 characters at most, and two clusters of a region each have theirs.
  name          = substr("${each.key}-${var.cluster_name}", 0, 64)
  event_pattern = jsonencode({ source = [each.value[0]], "detail-type" = [each.value[1]] })
  tags          = var.tags
}

resource "aws_cloudwatch_event_target" "interruption" {
  for_each  = aws_cloudwatch_event_rule.interruption
  rule      = each.value.name
  target_id = "KarpenterInterruptionQueueTarget"
  arn       = aws_sqs_queue.interruption[0].arn
}
