{{/* Affinity and spread, in which terms without a label selector get that of the chart's pods. */}}
{{- define "karpenter.placement" -}}
{{- $own := dict "labelSelector" (dict "matchLabels" (include "karpenter.selectorLabels" . | fromYaml)) -}}
{{- $affinity := deepCopy (.Values.affinity | default dict) -}}
{{- range $kind := list "podAffinity" "podAntiAffinity" -}}
{{- $rules := get $affinity $kind | default dict -}}
{{- range get $rules "requiredDuringSchedulingIgnoredDuringExecution" | default list -}}
{{- $_ := include "karpenter.select" (dict "term" . "own" $own) -}}
{{- end -}}
{{- range get $rules "preferredDuringSchedulingIgnoredDuringExecution" | default list -}}
{{- $_ := include "karpenter.select" (dict "term" .podAffinityTerm "own" $own) -}}
{{- end -}}
{{- end -}}
{{- $spread := deepCopy (dict "topologySpreadConstraints" (.Values.topologySpreadConstraints | default list)) -}}
{{- range $spread.topologySpreadConstraints -}}
{{- $_ := include "karpenter.select" (dict "term" . "own" $own) -}}
{{- end -}}
{{- with $affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if $spread.topologySpreadConstraints }}
{{ toYaml $spread }}
{{- end }}
{{- end -}}

{{/* Gives a term that has no label selector one, in place. */}}
{{- define "karpenter.select" -}}
{{- if and .term (not (hasKey .term "labelSelector")) -}}
{{- $_ := merge .term .own -}}
{{- end -}}
{{- end -}}
