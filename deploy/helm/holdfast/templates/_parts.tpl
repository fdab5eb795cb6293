{{- define "holdfast.labels" -}}
app.kubernetes.io/name: holdfast
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "holdfast.pod" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
volumes:
  - name: home
    emptyDir: {}
  - name: tmp
    emptyDir: {}
  {{- if .Values.config }}
  - name: config
    configMap: {name: {{ .Release.Name }}-config}
  {{- end }}
{{- end }}

{{- define "holdfast.container" -}}
image: {{ required "set image to the image that Dockerfile builds" .Values.image }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
envFrom:
  - secretRef: {name: {{ .Values.secretName }}}
volumeMounts:
  - {name: home, mountPath: /home/holdfast}
  - {name: tmp, mountPath: /tmp}
  {{- if .Values.config }}
  - {name: config, mountPath: /etc/holdfast, readOnly: true}
  {{- end }}
env:
  - {name: TEMPORAL_ADDRESS, value: {{ required "set temporal.address" .Values.temporal.address | quote }}}
  - {name: TEMPORAL_NAMESPACE, value: {{ .Values.temporal.namespace | quote }}}
  {{- if .Values.config }}
  - {name: HOLDFAST_CONFIG, value: /etc/holdfast/holdfast.toml}
  {{- end }}
  {{- range $name, $value := .Values.environment }}
  - {name: {{ $name }}, value: {{ $value | quote }}}
  {{- end }}
{{- end }}
