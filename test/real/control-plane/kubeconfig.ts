import { readFileSync, writeFileSync } from 'node:fs';
import type { KeyPair } from './certificates.ts';

export type Identity = KeyPair | { readonly token: string };

interface ClusterAddress {
  readonly url: string;
  /** File of the authority that vouches for the server. */
  readonly authority: string;
}

/** Writes a kubeconfig that needs no other file, and answers its path. JSON is YAML. */
export function writeKubeconfig(path: string, cluster: ClusterAddress, user: string, identity: Identity): string {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'tubelet-test',
        cluster: { server: cluster.url, 'certificate-authority-data': base64(cluster.authority) },
      },
    ],
    users: [{ name: user, user: credentials(identity) }],
    contexts: [{ name: 'default', context: { cluster: 'tubelet-test', user } }],
    'current-context': 'default',
  };
  writeFileSync(path, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
  return path;
}

function credentials(identity: Identity): Readonly<Record<string, string>> {
  if ('token' in identity) return { token: identity.token };
  return { 'client-certificate-data': base64(identity.certificate), 'client-key-data': base64(identity.key) };
}

const base64 = (path: string): string => readFileSync(path).toString('base64');
