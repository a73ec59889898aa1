{{/* Whether the probe is served: always in queue mode, on the node only where its port is free. */}}
{{- define "nth.servesProbe" -}}
{{- if or .Values.enableSqsTerminationDraining .Values.enableProbesServer }}true{{ end }}
{{- end }}

{{/* The variable of each value that is set. What is null or empty is left to the program. */}}
{{- define "nth.environment" -}}
{{- $names := dict
  "queueURL" "QUEUE_URL"
  "awsRegion" "AWS_REGION"
  "awsEndpoint" "AWS_ENDPOINT"
  "awsAccessKeyID" "AWS_ACCESS_KEY_ID"
  "awsSecretAccessKey" "AWS_SECRET_ACCESS_KEY"
  "sqsMsgVisibilityTimeoutSec" "SQS_MSG_VISIBILITY_TIMEOUT_SEC"
  "workers" "WORKERS"
  "checkTagBeforeDraining" "CHECK_TAG_BEFORE_DRAINING"
  "managedTag" "MANAGED_TAG"
  "checkASGTagBeforeDraining" "CHECK_ASG_TAG_BEFORE_DRAINING"
  "managedAsgTag" "MANAGED_ASG_TAG"
  "assumeAsgTagPropagation" "ASSUME_ASG_TAG_PROPAGATION"
  "useProviderId" "USE_PROVIDER_ID"
  "deleteSqsMsgIfNodeNotFound" "DELETE_SQS_MSG_IF_NODE_NOT_FOUND"
  "completeLifecycleActionDelaySeconds" "COMPLETE_LIFECYCLE_ACTION_DELAY_SECONDS"
  "heartbeatInterval" "HEARTBEAT_INTERVAL"
  "heartbeatUntil" "HEARTBEAT_UNTIL"
  "dryRun" "DRY_RUN"
  "cordonOnly" "CORDON_ONLY"
  "taintNode" "TAINT_NODE"
  "taintEffect" "TAINT_EFFECT"
  "enableOutOfServiceTaint" "ENABLE_OUT_OF_SERVICE_TAINT"
  "excludeFromLoadBalancers" "EXCLUDE_FROM_LOAD_BALANCERS"
  "deleteLocalData" "DELETE_LOCAL_DATA"
  "ignoreDaemonSets" "IGNORE_DAEMON_SETS"
  "podTerminationGracePeriod" "POD_TERMINATION_GRACE_PERIOD"
  "nodeTerminationGracePeriod" "NODE_TERMINATION_GRACE_PERIOD"
  "useApiserverCache" "USE_APISERVER_CACHE"
  "kubeApiQps" "KUBE_API_QPS"
  "kubeApiBurst" "KUBE_API_BURST"
  "clusterName" "CLUSTER_NAME"
  "queueActions" "QUEUE_ACTIONS"
  "poisonMessages" "POISON_MESSAGES"
  "drainDeadlineAction" "DRAIN_DEADLINE_ACTION"
  "enableSpotInterruptionDraining" "ENABLE_SPOT_INTERRUPTION_DRAINING"
  "enableASGLifecycleDraining" "ENABLE_ASG_LIFECYCLE_DRAINING"
  "enableScheduledEventDraining" "ENABLE_SCHEDULED_EVENT_DRAINING"
  "enableRebalanceMonitoring" "ENABLE_REBALANCE_MONITORING"
  "enableRebalanceDraining" "ENABLE_REBALANCE_DRAINING"
  "instanceMetadataURL" "INSTANCE_METADATA_URL"
  "metadataTries" "METADATA_TRIES"
  "procUptimeFile" "UPTIME_FROM_FILE"
  "preDrainDelaySeconds" "PRE_DRAIN_DELAY_SECONDS"
  "enablePrometheusServer" "ENABLE_PROMETHEUS_SERVER"
  "prometheusServerPort" "PROMETHEUS_SERVER_PORT"
  "emitKubernetesEvents" "EMIT_KUBERNETES_EVENTS"
  "kubernetesEventsExtraAnnotations" "KUBERNETES_EVENTS_EXTRA_ANNOTATIONS"
  "webhookHeaders" "WEBHOOK_HEADERS"
  "webhookProxy" "WEBHOOK_PROXY"
  "webhookPhase" "WEBHOOK_PHASE"
  "webhookDedupe" "WEBHOOK_DEDUPE"
  "delegateToProvisioner" "DELEGATE_TO_PROVISIONER"
  "legacyNodeMetrics" "LEGACY_NODE_METRICS"
  "logLevel" "LOG_LEVEL"
  "jsonLogging" "JSON_LOGGING"
  "logFormatVersion" "LOG_FORMAT_VERSION"
-}}
- name: NODE_NAME
  valueFrom:
    fieldRef:
      fieldPath: spec.nodeName
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
- name: NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
- name: ENABLE_SQS_TERMINATION_DRAINING
  value: {{ .Values.enableSqsTerminationDraining | quote }}
{{- if include "nth.servesProbe" . }}
- name: ENABLE_PROBES_SERVER
  value: "true"
- name: PROBES_SERVER_PORT
  value: {{ .Values.probes.httpGet.port | quote }}
- name: PROBES_SERVER_ENDPOINT
  value: {{ .Values.probes.httpGet.path | quote }}
{{- end }}
{{- range $value, $name := $names }}
{{- $set := get $.Values $value }}
{{- if not (or (kindIs "invalid" $set) (and (kindIs "string" $set) (empty $set))) }}
- name: {{ $name }}
  value: {{ if kindIs "float64" $set }}{{ int64 $set | quote }}{{ else }}{{ $set | quote }}{{ end }}
{{- end }}
{{- end }}
{{- if .Values.webhookURLSecretName }}
- name: WEBHOOK_URL
  valueFrom:
    secretKeyRef:
      name: {{ .Values.webhookURLSecretName }}
      key: webhookurl
{{- else if .Values.webhookURL }}
- name: WEBHOOK_URL
  value: {{ .Values.webhookURL | quote }}
{{- end }}
{{- if .Values.webhookTemplateConfigMapName }}
- name: WEBHOOK_TEMPLATE_FILE
  value: {{ printf "/config/%s" (required "webhookTemplateConfigMapKey is missing: the key of the template in webhookTemplateConfigMapName." .Values.webhookTemplateConfigMapKey) | quote }}
{{- else if .Values.webhookTemplate }}
- name: WEBHOOK_TEMPLATE
  value: {{ .Values.webhookTemplate | quote }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Where the template of webhooks comes from, if a ConfigMap holds it. */}}
{{- define "nth.volumes" -}}
{{- with .Values.webhookTemplateConfigMapName -}}
volumes:
- name: webhook-template
  configMap:
    name: {{ . }}
{{- end }}
{{- end }}
