package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
)

// writeList writes a ResourceList as kustomize hands it to a function: block
// style, keys in alphabetical order, sequences in line with their key, and the
// annotations that kustomize and its function runner add. The clusters stand at
// even distances among items of the kinds, and of about the sizes, that an
// ordinary repository has. The same numbers give the same bytes.
func writeList(out io.Writer, items, clusters int) {
	io.WriteString(out, "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n")
	random := rand.New(rand.NewPCG(6379, 16379))
	made := 0
	for i := range items {
		it := item{index: i, namespace: fmt.Sprintf("team-%02d", i%40), random: random}
		if i*clusters/items >= made && made < clusters {
			it.cluster(made)
			made++
		} else {
			it.kind()(&it, fmt.Sprintf("app-%05d", i))
		}
		io.WriteString(out, it.text())
	}
}

// item collects the lines of one item.
type item struct {
	index     int
	namespace string
	random    *rand.Rand
	lines     []string
}

// kinds holds each kind as often as it comes among 100 items.
var kinds = func() (all []func(*item, string)) {
	for _, k := range []struct {
		share int
		write func(*item, string)
	}{
		{15, (*item).deployment}, {22, (*item).service}, {20, (*item).configMap}, {7, (*item).secret},
		{7, (*item).ingress}, {13, (*item).serviceAccount}, {5, (*item).autoscaler}, {3, (*item).cronJob},
		{4, (*item).networkPolicy}, {4, (*item).roleBinding},
	} {
		for range k.share {
			all = append(all, k.write)
		}
	}
	return all
}()

func (it *item) kind() func(*item, string) { return kinds[it.random.IntN(len(kinds))] }

// add appends lines as they stand, with the values filled in.
func (it *item) add(lines string, values ...any) {
	it.lines = append(it.lines, strings.Split(strings.Trim(fmt.Sprintf(lines, values...), "\n"), "\n")...)
}

// text is the item as an element of `items`.
func (it *item) text() string {
	var b strings.Builder
	for i, line := range it.lines {
		switch {
		case i == 0:
			b.WriteString("- ")
		case line != "":
			b.WriteString("  ")
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// metadata is the same for all: the annotations are those of kustomize.
func (it *item) metadata(group, version, kind, name, labels string) {
	it.add("metadata:\n  annotations:\n    kustomize.config.k8s.io/id: |")
	if group != "" {
		it.add("      group: %s", group)
	}
	it.add(`
      kind: %s
      name: %s
      namespace: %s
      version: %s
    config.kubernetes.io/index: '%d'
    internal.config.kubernetes.io/index: '%[5]d'
    internal.config.kubernetes.io/annotations-migration-resource-id: '%[5]d'
    internal.config.kubernetes.io/id: '%[6]d'
    config.k8s.io/id: '%[6]d'
  labels:
    app.kubernetes.io/instance: %[2]s
    app.kubernetes.io/managed-by: kustomize
    app.kubernetes.io/name: %[7]s
  name: %[2]s
  namespace: %[3]s`, kind, name, it.namespace, version, it.index, it.index+1, labels)
}

// What comes out for one cluster: a Service for each shard, a ValkeyNode and a
// TCPRoute for each node.
const (
	shards   = 3
	replicas = 1
	nodes    = shards * (replicas + 1)
)

// cluster is number n of the clusters. Each has a Gateway of its own, so that no
// two ask for the same listener port.
func (it *item) cluster(n int) {
	it.add("apiVersion: valkey.io/v1alpha1\nkind: ValkeyCluster")
	it.metadata("valkey.io", "v1alpha1", "ValkeyCluster", fmt.Sprintf("cache-%d", n), "cache")
	it.add(`
spec:
  externalAccess:
    domain: valkey.example.org
    enabled: true
    gateway:
      basePort: 9000
      gatewayRef:
        name: tcp-gw-%d
    hostnamePrefix: c%[1]d
    preferredEndpointType: hostname
  image: docker.io/valkey/valkey:9.0.1
  replicas: %d
  shards: %d`, n, replicas, shards)
}

func (it *item) deployment(name string) {
	it.add("apiVersion: apps/v1\nkind: Deployment")
	it.metadata("apps", "v1", "Deployment", name, "web")
	it.add(`
spec:
  replicas: %d
  selector:
    matchLabels:
      app.kubernetes.io/instance: %s
      app.kubernetes.io/name: web
  strategy:
    rollingUpdate:
      maxSurge: 25%%
      maxUnavailable: 0
    type: RollingUpdate
  template:
    metadata:
      annotations:
        prometheus.io/port: "9090"
        prometheus.io/scrape: "true"
      labels:
        app.kubernetes.io/instance: %[2]s
        app.kubernetes.io/name: web
    spec:
      containers:
      - args:
        - --listen=:8080
        - --log-level=info
        - --config=/etc/app/config.yaml
        env:
        - name: POD_NAME
          valueFrom:
            fieldRef:
              fieldPath: metadata.name
        - name: CACHE_URL
          value: valkey://c%[3]d-0.valkey.example.org:9000
        - name: WORKERS
          value: "%[4]d"`, 1+it.random.IntN(5), name, it.random.IntN(100), 1<<it.random.IntN(6))
	for n := range it.random.IntN(6) {
		it.add("        - name: FEATURE_%d\n          value: %s", n, word(it.random))
	}
	it.add(`
        envFrom:
        - configMapRef:
            name: %s
        image: registry.example.org/team/web:1.%d.%d
        imagePullPolicy: IfNotPresent
        livenessProbe:
          httpGet:
            path: /healthz
            port: http
          initialDelaySeconds: 5
          periodSeconds: 10
        name: web
        ports:
        - containerPort: 8080
          name: http
        - containerPort: 9090
          name: metrics
        readinessProbe:
          httpGet:
            path: /readyz
            port: http
        resources:
          limits:
            memory: 512Mi
          requests:
            cpu: 100m
            memory: 256Mi
        securityContext:
          allowPrivilegeEscalation: false
          capabilities:
            drop:
            - ALL
          readOnlyRootFilesystem: true
        volumeMounts:
        - mountPath: /etc/app
          name: config
          readOnly: true
        - mountPath: /tmp
          name: tmp`, name, it.random.IntN(40), it.random.IntN(20))
	if it.random.IntN(4) == 0 {
		it.add(`
      initContainers:
      - command:
        - /bin/sh
        - -c
        - |
          set -eu
          # wait until the schema is there
          until migrate status; do
            sleep 2
          done
        image: registry.example.org/team/migrate:2.%d
        name: migrate`, it.random.IntN(30))
	}
	it.add(`
      securityContext:
        runAsNonRoot: true
        seccompProfile:
          type: RuntimeDefault
      serviceAccountName: %s
      terminationGracePeriodSeconds: 30
      topologySpreadConstraints:
      - labelSelector:
          matchLabels:
            app.kubernetes.io/instance: %[1]s
        maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: ScheduleAnyway
      volumes:
      - configMap:
          name: %[1]s
        name: config
      - emptyDir: {}
        name: tmp`, name)
}

// service has, now and then, a name that one of ours could have.
func (it *item) service(name string) {
	if it.random.IntN(10) == 0 {
		name = "valkey-" + name
	}
	it.add("apiVersion: v1\nkind: Service")
	it.metadata("", "v1", "Service", name, "web")
	it.add(`
spec:
  ports:
  - name: http
    port: 80
    protocol: TCP
    targetPort: http
  - name: metrics
    port: 9090
    protocol: TCP
    targetPort: metrics
  selector:
    app.kubernetes.io/instance: %s
    app.kubernetes.io/name: web
  type: ClusterIP`, name)
}

func (it *item) configMap(name string) {
	it.add("apiVersion: v1\ndata:")
	switch it.random.IntN(4) {
	case 0:
		for n := range 4 + it.random.IntN(16) {
			it.add("  SETTING_%02d: %s", n, word(it.random))
		}
		it.add("  PORT: \"8080\"\n  ENABLED: \"true\"\n  VERSION: \"1.20\"\n  MODE: \"0755\"")
	case 1:
		it.add("  nginx.conf: |\n    worker_processes auto;\n\n    events {\n      worker_connections 1024;\n    }\n\n    http {")
		for n := range 4 + it.random.IntN(12) {
			it.add("      upstream backend-%d {\n        server %s.internal:80%02[1]d; # primary\n      }", n, word(it.random))
		}
		it.add("    }")
	case 2:
		it.add("  run.sh: |-\n    #!/bin/sh\n    set -eu\n    for file in /etc/app/*.d/*; do\n      [ -e \"$file\" ] || continue\n      . \"$file\"\n    done")
		for n := range 4 + it.random.IntN(20) {
			it.add("    echo 'step %d: %s'", n, word(it.random))
		}
	default:
		it.add("  config.yaml: |\n    apiVersion: example.org/v1\n    kind: AppConfig\n    ---\n    routes:")
		for n := range 4 + it.random.IntN(16) {
			it.add("    - path: /api/v%d\n      backend: \"%s\"\n      timeout: %ds", n, word(it.random), 5+it.random.IntN(50))
		}
	}
	it.add("kind: ConfigMap")
	it.metadata("", "v1", "ConfigMap", name, "web")
}

func (it *item) secret(name string) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	secret := make([]byte, 64)
	it.add("apiVersion: v1\ndata:")
	for _, key := range []string{"ca.crt", "password", "tls.crt", "tls.key", "username"} {
		var value strings.Builder
		for range 1 + it.random.IntN(6) {
			for i := range secret {
				secret[i] = alphabet[it.random.IntN(len(alphabet))]
			}
			value.Write(secret)
		}
		it.add("  %s: %s", key, value.String())
	}
	it.add("kind: Secret")
	it.metadata("", "v1", "Secret", name, "web")
	it.add("type: Opaque")
}

func (it *item) ingress(name string) {
	it.add("apiVersion: networking.k8s.io/v1\nkind: Ingress")
	it.metadata("networking.k8s.io", "v1", "Ingress", name, "web")
	it.add("spec:\n  ingressClassName: public\n  rules:")
	for range 1 + it.random.IntN(3) {
		it.add(`
  - host: %s.example.org
    http:
      paths:
      - backend:
          service:
            name: %s
            port:
              name: http
        path: /
        pathType: Prefix`, word(it.random), name)
	}
	it.add("  tls:\n  - hosts:\n    - '*.example.org'\n    secretName: %s", name)
}

func (it *item) serviceAccount(name string) {
	it.add("apiVersion: v1\nautomountServiceAccountToken: false\nkind: ServiceAccount")
	it.metadata("", "v1", "ServiceAccount", name, "web")
}

func (it *item) autoscaler(name string) {
	it.add("apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler")
	it.metadata("autoscaling", "v2", "HorizontalPodAutoscaler", name, "web")
	it.add(`
spec:
  maxReplicas: %d
  metrics:
  - resource:
      name: cpu
      target:
        averageUtilization: 75
        type: Utilization
    type: Resource
  minReplicas: 2
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: %s`, 4+it.random.IntN(20), name)
}

func (it *item) cronJob(name string) {
	it.add("apiVersion: batch/v1\nkind: CronJob")
	it.metadata("batch", "v1", "CronJob", name, "job")
	it.add(`
spec:
  concurrencyPolicy: Forbid
  jobTemplate:
    spec:
      backoffLimit: 2
      template:
        spec:
          containers:
          - command:
            - /bin/sh
            - -c
            - >-
              curl --fail --silent --show-error
              http://%s.%s.svc/cleanup
            image: registry.example.org/team/tools:3
            name: job
          restartPolicy: Never
  schedule: '%d %d * * *'`, name, it.namespace, it.random.IntN(60), it.random.IntN(24))
}

func (it *item) networkPolicy(name string) {
	it.add("apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy")
	it.metadata("networking.k8s.io", "v1", "NetworkPolicy", name, "web")
	it.add(`
spec:
  ingress:
  - from:
    - namespaceSelector:
        matchLabels:
          kubernetes.io/metadata.name: ingress
    ports:
    - port: 8080
      protocol: TCP
  podSelector:
    matchLabels:
      app.kubernetes.io/instance: %s
  policyTypes:
  - Ingress`, name)
}

func (it *item) roleBinding(name string) {
	it.add("apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding")
	it.metadata("rbac.authorization.k8s.io", "v1", "RoleBinding", name, "web")
	it.add(`
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: reader
subjects:
- kind: ServiceAccount
  name: %s
  namespace: %s`, name, it.namespace)
}

// word is a lower-case word that reads as a string in every YAML version.
func word(random *rand.Rand) string {
	const consonants, vowels = "bcdfghklmnprstvz", "aeiou"
	var b strings.Builder
	for range 3 + random.IntN(5) {
		b.WriteByte(consonants[random.IntN(len(consonants))])
		b.WriteByte(vowels[random.IntN(len(vowels))])
	}
	return b.String()
}
