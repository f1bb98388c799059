import { isHealthy } from '../https-get.ts';
import type { ControlPlane } from '../control-plane.ts';
import { loopbackPorts } from '../loopback-ports.ts';

const namespace = 'kube-system';
const name = 'metrics-server';
const subject = { kind: 'ServiceAccount', name, namespace };
const rbac = 'rbac.authorization.k8s.io';

/** Who it is, and what it may ask for: as in the manifests that people apply to their clusters. */
const account: readonly object[] = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
  {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRole',
    metadata: { name: `system:${name}` },
    rules: [
      { apiGroups: [''], resources: ['nodes/metrics'], verbs: ['get'] },
      { apiGroups: [''], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] },
    ],
  },
  binding('ClusterRole', `system:${name}`),
  binding('ClusterRole', 'system:auth-delegator'),
  binding('Role', 'extension-apiserver-authentication-reader'),
];

function binding(kind: 'ClusterRole' | 'Role', role: string): object {
  const place = kind === 'Role' ? { namespace } : {};
  return {
    apiVersion: `${rbac}/v1`,
    kind: `${kind}Binding`,
    metadata: { name: `${name}:${role}`, ...place },
    roleRef: { apiGroup: rbac, kind, name: role },
    subjects: [subject],
  };
}

/**
 * Runs a metrics-server as a plain process at an address of this machine, and has the API server send there what is asked
 * of metrics.k8s.io. The address must not be a loopback one: endpoints cannot hold those.
 */
export async function startMetricsServer(plane: ControlPlane, address: string): Promise<void> {
  await apply(plane, account);
  const kubeconfig = await plane.serviceAccountKubeconfig(namespace, name);
  const [port = 0] = await loopbackPorts(1);
  const names = [`DNS:${name}.${namespace}.svc`, `IP:${address}`];
  const { certificate, key } = await plane.authority.issue(name, { user: name, names });
  await plane.startService({
    program: name,
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      `--bind-address=${address}`,
      `--secure-port=${port}`,
      `--tls-cert-file=${certificate}`,
      `--tls-private-key-file=${key}`,
      // Agents vouch for themselves unless they are told to have a certificate issued.
      '--kubelet-insecure-tls',
      '--kubelet-preferred-address-types=InternalIP',
      '--kubelet-use-node-status-port',
      // Nothing quicker is allowed; an answer may take nine tenths of it at most.
      '--metric-resolution=10s',
      '--kubelet-request-timeout=9s',
    ],
    ready: () => isHealthy(`https://${address}:${port}/livez`, plane.authority.pem),
  });
  // Not before it listens: the API server looks again only after half a minute.
  await apply(plane, [service(), endpoints(address, port), apiService(plane)]);
}

function service(): object {
  const ports = [{ name: 'https', port: 443, protocol: 'TCP' }];
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, spec: { ports } };
}

/** By hand, since no pod is behind the service. */
function endpoints(address: string, port: number): object {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ name: 'https', port, protocol: 'TCP' }],
  };
}

function apiService(plane: ControlPlane): object {
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1beta1.metrics.k8s.io' },
    spec: {
      group: 'metrics.k8s.io',
      version: 'v1beta1',
      groupPriorityMinimum: 100,
      versionPriority: 100,
      service: { name, namespace },
      caBundle: plane.authority.pem.toString('base64'),
    },
  };
}

export async function apply(plane: ControlPlane, objects: readonly object[]): Promise<void> {
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
  const { code, stderr } = await plane.kubectl(['apply', '--filename=-'], list);
  if (code !== 0) throw new Error(`kubectl apply: ${stderr}`);
}
