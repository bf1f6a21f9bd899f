// Each a cluster that one may start from.
export const examples = [
    {
        name: "Gateway",
        text: `# Six nodes behind one Gateway: each has a listener port of its own.
apiVersion: valkey.io/v1alpha1
kind: ValkeyCluster
metadata:
  name: orders
  namespace: shop
spec:
  shards: 3
  replicas: 1
  externalAccess:
    enabled: true
    domain: cache.example.com
    gateway:
      gatewayRef:
        name: edge
      basePort: 30000
`,
    },
    {
        name: "Load balancers",
        text: `# One load balancer for each shard, with a name in DNS.
apiVersion: valkey.io/v1alpha1
kind: ValkeyCluster
metadata:
  name: sessions
  namespace: web
spec:
  shards: 3
  replicas: 1
  externalAccess:
    enabled: true
    serviceType: LoadBalancer
    domain: sessions.example.com
---
# For the function: what the operator does not know.
apiVersion: fn.valkey.io/v1alpha1
kind: ExposeValkey
metadata:
  name: expose
spec:
  clusters:
  - externalAccess:
      serviceAnnotations:
        external-dns.alpha.kubernetes.io/hostname: "{hostname}"
`,
    },
    {
        name: "Node ports",
        text: `# Ports of the Kubernetes nodes: which ones, Kubernetes decides.
apiVersion: valkey.io/v1alpha1
kind: ValkeyCluster
metadata:
  name: lab
spec:
  shards: 2
  replicas: 1
  externalAccess:
    enabled: true
`,
    },
    {
        name: "With mistakes",
        text: `# Every mistake is told at once, and marked here.
apiVersion: valkey.io/v1alpha1
kind: ValkeyCluster
metadata:
  name: orders
  namespace: shop
spec:
  shards: 0
  replicas: 1
  externalAccess:
    enabled: true
    domian: cache.example.com
    gateway:
      gatewayRef:
        name: edge
      basePort: 70000
`,
    },
];
