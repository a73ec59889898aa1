{{/*
Settings, from values of four eras.

"karpenter.table" has a row for each setting: the variable the controller reads, its default, and
the paths of the value, today's first. The first path that holds something wins; what lies behind
it in other paths gives a warning.
*/}}
{{- define "karpenter.table" -}}
rows:
- {env: CLUSTER_NAME, paths: [settings.clusterName, settings.aws.clusterName, clusterName, controller.clusterName]}
- {env: CLUSTER_ENDPOINT, paths: [settings.clusterEndpoint, settings.aws.clusterEndpoint, clusterEndpoint, controller.clusterEndpoint]}
- {env: CLUSTER_CA_BUNDLE, paths: [settings.clusterCABundle, settings.aws.clusterCABundle]}
- {env: INTERRUPTION_QUEUE, paths: [settings.interruptionQueue, settings.aws.interruptionQueueName]}
- {env: ISOLATED_VPC, paths: [settings.isolatedVPC, settings.aws.isolatedVPC]}
- {env: EKS_CONTROL_PLANE, default: "false", paths: [settings.eksControlPlane]}
- {env: VM_MEMORY_OVERHEAD_PERCENT, paths: [settings.vmMemoryOverheadPercent, settings.aws.vmMemoryOverheadPercent]}
- {env: RESERVED_ENIS, paths: [settings.reservedENIs, settings.aws.reservedENIs]}
- {env: AWS_DEFAULT_INSTANCE_PROFILE, paths: [settings.defaultInstanceProfile, settings.aws.defaultInstanceProfile, aws.defaultInstanceProfile]}
- {env: AWS_DEFAULT_TAGS, paths: [settings.defaultTags, settings.aws.tags]}
- {env: DISABLE_DRY_RUN, default: "false", paths: [settings.disableDryRun]}
- {env: AMI_REFRESH_INTERVAL, default: 1m, paths: [settings.amiRefreshInterval]}
- {env: SUBNET_REFRESH_INTERVAL, default: 1m, paths: [settings.subnetRefreshInterval]}
- {env: ENABLE_ZONAL_SHIFT, default: "false", paths: [settings.enableZonalShift]}
- {env: ENABLE_ZONAL_AUTOSHIFT, default: "false", paths: [settings.enableZonalAutoshift]}
- {env: REBALANCE_POLICY, paths: [settings.rebalancePolicy]}
- {env: INTERRUPTION_PERCENT_PER_MINUTE, paths: [settings.interruptionPercentPerMinute]}
- {env: BATCH_MAX_DURATION, default: 10s, paths: [settings.batchMaxDuration]}
- {env: BATCH_IDLE_DURATION, default: 1s, paths: [settings.batchIdleDuration]}
- {env: PREFERENCE_POLICY, default: Respect, paths: [settings.preferencePolicy]}
- {env: MIN_VALUES_POLICY, default: Strict, paths: [settings.minValuesPolicy]}
- {env: IGNORE_DRA_REQUESTS, default: "true", paths: [settings.ignoreDRARequests]}
- {env: DISABLE_CLUSTER_STATE_OBSERVABILITY, default: "false", paths: [settings.disableClusterStateObservability]}
- {env: KERF_LOG_FORMAT, paths: [logFormat]}
- {env: LOG_LEVEL, default: info, paths: [logLevel, controller.logLevel]}
{{- end -}}

{{/* Values of old charts that nothing of today takes the place of, and what to do about each. */}}
{{- define "karpenter.gone" -}}
settings.aws.enablePodENI: nothing, pod interfaces are always counted
settings.aws.enableENILimitedPodDensity: set spec.kubelet.maxPods of each EC2NodeClass
settings.aws.nodeNameConvention: nothing, the kubelet names nodes
settings.aws.assumeRoleARN: give the service account a role (Pod Identity or IRSA)
settings.aws.assumeRoleDuration: nothing
settings.featureGates.driftEnabled: nothing, drift is always on; limit it with budgets of NodePools
settings.featureGates.drift: nothing, drift is always on; limit it with budgets of NodePools
webhook: nothing, there is no webhook
logEncoding: set logFormat
logConfig: set logLevel
{{- end -}}

{{/* Which charts a path belonged to, by its place behind today's. */}}
{{- define "karpenter.era" -}}
{{- if hasPrefix "settings.aws." . -}}0.19 to 0.31
{{- else if hasPrefix "controller." . -}}0.5 to 0.6
{{- else -}}0.7 to 0.18
{{- end -}}
{{- end -}}

{{/* The value at a path as text in {"text": …}; {} if nothing is there. */}}
{{- define "karpenter.at" -}}
{{- $here := .root.Values -}}
{{- $there := true -}}
{{- range splitList "." .path -}}
{{- if and $there (kindIs "map" $here) (hasKey $here .) -}}
{{- $here = get $here . -}}
{{- else -}}
{{- $there = false -}}
{{- end -}}
{{- end -}}
{{- if or (not $there) (kindIs "invalid" $here) -}}
{}
{{- else if and (kindIs "map" $here) (empty $here) -}}
{}
{{- else if or (kindIs "map" $here) (kindIs "slice" $here) -}}
{{- dict "text" (toJson $here) | toJson -}}
{{- else if eq (toString $here) "" -}}
{}
{{- else -}}
{{- dict "text" (tpl (toString $here) .root) | toJson -}}
{{- end -}}
{{- end -}}

{{/* {"env": {NAME: text}, "warnings": […]}. */}}
{{- define "karpenter.settings" -}}
{{- $root := . -}}
{{- $env := dict -}}
{{- $warnings := list -}}
{{- $eras := dict -}}
{{- range (include "karpenter.table" . | fromYaml).rows -}}
  {{- $row := . -}}
  {{- $winner := "" -}}
  {{- $text := get $row "default" | default "" -}}
  {{- $today := first .paths -}}
  {{- range .paths -}}
    {{- $at := include "karpenter.at" (dict "root" $root "path" .) | fromJson -}}
    {{- if hasKey $at "text" -}}
      {{- if ne . $today -}}
        {{- $era := include "karpenter.era" . -}}
        {{- $_ := set $eras $era (append (get $eras $era | default list) (printf "%s (write %s)" . $today)) -}}
      {{- end -}}
      {{- if not $winner -}}
        {{- $winner = . -}}
        {{- $text = $at.text -}}
      {{- else if ne $at.text $text -}}
        {{- $warnings = append $warnings (printf "%s is %q and %s is %q: the first counts" $winner $text . $at.text) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
  {{- if $text -}}
    {{- $_ := set $env .env $text -}}
  {{- end -}}
{{- end -}}
{{- range $era := keys $eras | sortAlpha -}}
  {{- $warnings = append $warnings (printf "values of charts %s: %s" $era (get $eras $era | join ", ")) -}}
{{- end -}}
{{- range $path, $advice := include "karpenter.gone" . | fromYaml -}}
  {{- if hasKey (include "karpenter.at" (dict "root" $root "path" $path) | fromJson) "text" -}}
    {{- $warnings = append $warnings (printf "%s has no effect; to do: %s" $path $advice) -}}
  {{- end -}}
{{- end -}}
{{- dict "env" $env "warnings" $warnings | toJson -}}
{{- end -}}

{{/* Name=true,Name=false of a map of gates, which the controller writes with a capital letter. */}}
{{- define "karpenter.gates" -}}
{{- $gates := list -}}
{{- range $name, $on := . -}}
{{- if not (has $name (list "drift" "driftEnabled")) -}}
{{- $gates = append $gates (printf "%s%s=%v" (substr 0 1 $name | upper) (substr 1 -1 $name) $on) -}}
{{- end -}}
{{- end -}}
{{- join "," $gates -}}
{{- end -}}

{{/* The controller's environment. */}}
{{- define "karpenter.env" -}}
{{- $env := (include "karpenter.settings" . | fromJson).env -}}
{{- if and (eq .Values.cloud "aws") (not (hasKey $env "CLUSTER_NAME")) -}}
{{- fail "settings.clusterName is needed: the name of the EKS cluster" -}}
{{- end -}}
{{- $_ := set $env "KERF_CLOUD" .Values.cloud -}}
{{- $_ := set $env "METRICS_PORT" (toString .Values.controller.metrics.port) -}}
{{- $_ := set $env "HEALTH_PROBE_PORT" (toString .Values.controller.healthProbe.port) -}}
{{- $_ := set $env "KARPENTER_SERVICE" (include "karpenter.fullname" .) -}}
{{- $_ := set $env "LOG_OUTPUT_PATHS" (join "," .Values.logOutputPaths) -}}
{{- $_ := set $env "LOG_ERROR_OUTPUT_PATHS" (join "," .Values.logErrorOutputPaths) -}}
{{- $_ := set $env "FEATURE_GATES" (include "karpenter.gates" .Values.settings.featureGates) -}}
{{- $_ := set $env "AWS_FEATURE_GATES" (include "karpenter.gates" .Values.settings.awsFeatureGates) -}}
{{- with .Values.settings.schedulerConfig -}}
{{- $_ := set $env "SCHEDULER_CONFIG" (toJson .) -}}
{{- end -}}
{{- $own := list -}}
{{- range .Values.controller.env -}}
{{- $own = append $own .name -}}
{{- end -}}
{{- range $name := keys $env | sortAlpha }}
{{- if not (has $name $own) }}
- name: {{ $name }}
  value: {{ get $env $name | quote }}
{{- end }}
{{- end }}
{{- if not (has "SYSTEM_NAMESPACE" $own) }}
- name: SYSTEM_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
{{- end }}
{{- range .Values.controller.env }}
- {{ toYaml . | nindent 2 | trim }}
{{- end }}
{{- end -}}
