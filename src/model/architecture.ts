/** How Kubernetes calls the architectures that Node.js runs on. */
const names: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64', ia32: '386', ppc64: 'ppc64le' };

/** The name of an architecture in labels, node status and user agents. */
export function goArchitecture(nodeName: string): string {
  return names[nodeName] ?? nodeName;
}
