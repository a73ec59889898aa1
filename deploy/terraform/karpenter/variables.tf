variable "cluster_name" {
  description = "The name of the EKS cluster"
  type        = any
  default     = ""

  validation {
    condition     = can(regex("^[A-Za-z0-9][A-Za-z0-9_-]{0,42}$", var.cluster_name))
    error_message = "cluster_name is needed: a name of 43 characters at most, because roles are called after it."
  }
}

variable "cluster_endpoint" {
  description = "The address of the API server; looked up if empty"
  type        = string
  default     = ""
}

variable "helm_create_namespace" {
  description = "Whether the release makes its namespace"
  type        = bool
  default     = true
}

variable "helm_name" {
  description = "The name of the release"
  type        = string
  default     = "karpenter"
}

variable "helm_namespace" {
  description = "The namespace of the release"
  type        = string
  default     = "karpenter"
}

variable "iam_path" {
  description = "The path of roles and policies; / if empty"
  type        = string
  default     = ""
}

variable "permissions_boundary" {
  description = "The ARN of the permissions boundary of every role; none if empty"
  type        = string
  default     = ""
}

variable "provider_url" {
  description = "The OpenID Connect issuer; that of the cluster if empty"
  type        = string
  default     = ""
}

variable "worker_iam_role_name" {
  description = "An existing role for nodes; KarpenterNodeRole-CLUSTER is made if empty"
  type        = string
  default     = ""
}

variable "interruption" {
  description = "rules: a queue and rules that fill it; router: a queue alone; none: neither"
  type        = string
  default     = "rules"

  validation {
    condition     = contains(["rules", "router", "none"], var.interruption)
    error_message = "interruption is one of rules, router, none."
  }
}

variable "queue_name" {
  description = "The name of the queue; the cluster's if empty"
  type        = string
  default     = ""
}

variable "identity" {
  description = "How the controller gets its role: irsa, pod-identity or both"
  type        = string
  default     = "irsa"

  validation {
    condition     = contains(["irsa", "pod-identity", "both"], var.identity)
    error_message = "identity is one of irsa, pod-identity, both."
  }
}

variable "create_access_entry" {
  description = "Whether nodes get an access entry; null decides by the cluster's authentication mode"
  type        = bool
  default     = null
}

variable "create_spot_service_linked_role" {
  description = "Whether to make AWSServiceRoleForEC2Spot, which an account has once"
  type        = bool
  default     = false
}

variable "default_requirements" {
  description = "Requirements of a NodePool default, which is made where they are given: label to values"
  type        = map(list(string))
  default     = null
}

variable "chart" {
  description = "The chart: a path, or a name in a repository"
  type        = string
  default     = ""
}

variable "chart_version" {
  description = "The version of the chart, where it is not a path"
  type        = string
  default     = null
}

variable "helm_values" {
  description = "Further values of the chart, as YAML; later ones win"
  type        = list(string)
  default     = []
}

variable "tags" {
  description = "Tags of everything that can have them"
  type        = map(string)
  default     = {}
}
