const namePattern = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const domainPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Labels of Kubernetes' own domains that a node may set on itself. */
const ownLabels: ReadonlySet<string> = new Set([
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
]);

/** `name` or `domain/name`. */
export function isQualifiedName(key: string): boolean {
  const parts = key.split('/');
  const name = parts.pop() ?? '';
  const [domain] = parts;
  if (parts.length > 1 || !namePattern.test(name)) return false;
  return domain === undefined || (domain.length <= 253 && domainPattern.test(domain));
}

export function isLabelValue(value: string): boolean {
  return value === '' || namePattern.test(value);
}

/** Whether the key belongs to Kubernetes and a node must not set it on itself. */
export function isRestrictedLabel(key: string): boolean {
  const domain = key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
  const within = (suffix: string): boolean => domain === suffix || domain.endsWith(`.${suffix}`);
  if (!within('kubernetes.io') && !within('k8s.io')) return false;
  return !ownLabels.has(key) && !within('kubelet.kubernetes.io') && !within('node.kubernetes.io');
}
