/** A bootstrap token as kubeadm writes them: `abcdef.0123456789abcdef`. */
export interface BootstrapToken {
  readonly id: string;
  readonly secret: string;
}

const bootstrappers = 'system:bootstrappers';
const approval = 'system:certificates.k8s.io:certificatesigningrequests';

/** What a cluster has besides what the API server makes by itself: nodes may introduce themselves and stay known. */
export function clusterObjects(token: BootstrapToken): object {
  return {
    apiVersion: 'v1',
    kind: 'List',
    items: [
      {
        apiVersion: 'v1',
        kind: 'Secret',
        type: 'bootstrap.kubernetes.io/token',
        metadata: { name: `bootstrap-token-${token.id}`, namespace: 'kube-system' },
        stringData: {
          'token-id': token.id,
          'token-secret': token.secret,
          'usage-bootstrap-authentication': 'true',
          'usage-bootstrap-signing': 'true',
        },
      },
      grant('bootstrap', 'system:node-bootstrapper', bootstrappers),
      grant('approve-first-certificate', `${approval}:nodeclient`, bootstrappers),
      grant('approve-next-certificate', `${approval}:selfnodeclient`, 'system:nodes'),
    ],
  };
}

function grant(name: string, role: string, group: string): object {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: `tubelet-test:${name}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
  };
}
