import type { ApiServerAccess } from '../kubeconfig/access.ts';

/**
 * The kubeconfig of a node that has just received its certificate: the cluster of the bootstrap kubeconfig, and the
 * certificate by the link that rotations move. Names as the Go kubelet writes them.
 */
export function kubeconfigText(access: ApiServerAccess, pairPath: string): string {
  const { server, certificateAuthority, tlsServerName, insecureSkipTlsVerify, proxyUrl, disableCompression } = access;
  const cluster: [string, string | boolean][] = [];
  if (certificateAuthority !== undefined) {
    if ('file' in certificateAuthority) cluster.push(['certificate-authority', certificateAuthority.file]);
    else cluster.push(['certificate-authority-data', Buffer.from(certificateAuthority.data).toString('base64')]);
  }
  if (disableCompression) cluster.push(['disable-compression', true]);
  if (insecureSkipTlsVerify) cluster.push(['insecure-skip-tls-verify', true]);
  if (proxyUrl !== undefined) cluster.push(['proxy-url', proxyUrl]);
  cluster.push(['server', server.href.replace(/\/$/, '')]);
  if (tlsServerName !== undefined) cluster.push(['tls-server-name', tlsServerName]);
  return [
    'apiVersion: v1',
    'clusters:',
    '- cluster:',
    ...cluster.map(([name, value]) => `    ${name}: ${scalar(value)}`),
    '  name: default-cluster',
    'contexts:',
    '- context:',
    '    cluster: default-cluster',
    '    namespace: default',
    '    user: default-auth',
    '  name: default-context',
    'current-context: default-context',
    'kind: Config',
    'users:',
    '- name: default-auth',
    '  user:',
    `    client-certificate: ${scalar(pairPath)}`,
    `    client-key: ${scalar(pairPath)}`,
    '',
  ].join('\n');
}

/** Unquoted where nothing in it has another meaning in YAML. */
function scalar(value: string | boolean): string {
  if (typeof value === 'boolean') return String(value);
  return /^[/A-Za-z][A-Za-z0-9+/=._:-]*$/.test(value) && !value.endsWith(':') ? value : JSON.stringify(value);
}
