{{/* The one container. Takes root, and the securityContext, which Windows knows nothing of. */}}
{{- define "nth.container" -}}
{{- $values := .root.Values -}}
- name: aws-node-termination-handler
  image: {{ include "nth.image" .root | quote }}
  imagePullPolicy: {{ $values.image.pullPolicy }}
  command: [kerf, termination-handler]
  {{- with .securityContext }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  env:
  {{- include "nth.environment" .root | nindent 2 }}
  {{- if or (include "nth.servesProbe" .root) $values.enablePrometheusServer }}
  ports:
  {{- if include "nth.servesProbe" .root }}
  - name: liveness-probe
    protocol: TCP
    containerPort: {{ $values.probes.httpGet.port }}
  {{- end }}
  {{- if $values.enablePrometheusServer }}
  - name: http-metrics
    protocol: TCP
    containerPort: {{ $values.prometheusServerPort }}
  {{- end }}
  {{- end }}
  {{- if include "nth.servesProbe" .root }}
  livenessProbe:
    {{- toYaml $values.probes | nindent 4 }}
  {{- end }}
  {{- if $values.webhookTemplateConfigMapName }}
  volumeMounts:
  - name: webhook-template
    mountPath: /config
    readOnly: true
  {{- end }}
  {{- with $values.resources }}
  resources:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
