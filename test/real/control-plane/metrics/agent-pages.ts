import { request } from 'node:https';
import type { Node } from '../../../../src/gen/kubernetes/types.ts';
import type { ControlPlane } from '../control-plane.ts';
import { apply } from './metrics-server.ts';

/** All pages of figures that an agent has. */
export const metricsPages = ['/metrics', '/metrics/cadvisor', '/metrics/resource', '/metrics/probes', '/metrics/slis'];

const namespace = 'kube-system';
const name = 'reader';
const answerMs = 30_000;

/** The agent's secured port, as somebody sees it who may look at everything and change nothing. */
export interface AgentPages {
  /** `host:port` */
  readonly address: string;
  readonly token: string;
  get(path: string): Promise<{ readonly status: number; readonly type: string; readonly body: string }>;
}

/** Makes a service account that may read, and reads with its token. */
export async function openAgentPages(plane: ControlPlane, node: Node): Promise<AgentPages> {
  const group = 'rbac.authorization.k8s.io';
  const parts = ['metrics', 'stats', 'configz', 'healthz', 'pods'].map((part) => `nodes/${part}`);
  await apply(plane, [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
    {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRole',
      metadata: { name },
      rules: [{ apiGroups: [''], resources: parts, verbs: ['get'] }],
    },
    {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
  ]);
  const token = await plane.serviceAccountToken(namespace, name);
  const { addresses = [], daemonEndpoints } = node.status ?? {};
  const host = addresses.find(({ type }) => type === 'InternalIP')?.address ?? '';
  const address = `${host}:${daemonEndpoints?.kubeletEndpoint?.Port}`;
  return { address, token, get: (path) => get(`https://${address}${path}`, token) };
}

function get(url: string, token: string): ReturnType<AgentPages['get']> {
  return new Promise((resolve, reject) => {
    const options = {
      headers: { authorization: `Bearer ${token}` },
      // An agent vouches for itself unless it is told to have a certificate issued.
      rejectUnauthorized: false,
      agent: false,
      signal: AbortSignal.timeout(answerMs),
    };
    const outgoing = request(url, options, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      const { statusCode: status = 0, headers } = response;
      response.on('error', reject).on('end', () => resolve({ status, type: headers['content-type'] ?? '', body }));
    });
    outgoing.on('error', reject).end();
  });
}
