{{- define "civitas.labels" -}}
app.kubernetes.io/name: civitas
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "civitas.secret" -}}
{{ .Values.existingSecret | default (printf "%s-civitas" .Release.Name) }}
{{- end }}

{{- define "civitas.container" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
envFrom:
  - secretRef: {name: {{ include "civitas.secret" . }}}
env:
  - {name: CIVITAS_OPERATIONS_LISTEN, value: "0.0.0.0:3001"}
{{- range $name, $value := .Values.settings }}
  - {name: {{ $name }}, value: {{ $value | quote }}}
{{- end }}
resources: {{- toYaml .Values.resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
volumeMounts:
  - {name: data, mountPath: /data}
{{- end }}
