{{- define "nth.name" -}}
{{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "nth.fullname" -}}
{{- $name := include "nth.name" . -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains $name .Release.Name -}}
{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{- define "nth.selectorLabels" -}}
app.kubernetes.io/name: {{ include "nth.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* What runs: one Deployment reads a queue, a DaemonSet asks each instance's metadata service. */}}
{{- define "nth.component" -}}
{{ .Values.enableSqsTerminationDraining | ternary "deployment" "daemonset" }}
{{- end }}

{{- define "nth.labels" -}}
{{ include "nth.selectorLabels" . }}
app.kubernetes.io/component: {{ include "nth.component" . }}
app.kubernetes.io/part-of: {{ include "nth.name" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- with .Values.customLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "nth.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{ default (include "nth.fullname" .) .Values.serviceAccount.name }}
{{- else -}}
{{ default "default" .Values.serviceAccount.name }}
{{- end -}}
{{- end }}

{{- define "nth.image" -}}
{{ .Values.image.repository }}:{{ default (printf "v%s" .Chart.AppVersion) .Values.image.tag }}
{{- end }}
