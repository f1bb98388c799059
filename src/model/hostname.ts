import type { DesiredPod } from './desired-pod.ts';

/** Longest label of a DNS name, and longest host name the kernel takes. */
const maxLabel = 63;
const maxKernelHostname = 64;

export interface PodHostname {
  readonly hostname: string;
  /** Empty unless the pod asks for a subdomain. */
  readonly domain: string;
}

interface HostnameOptions {
  readonly clusterDomain: string;
  /** Whether `spec.hostnameOverride` is in force. */
  readonly allowOverride: boolean;
}

/** The host name of a pod, and its domain in the cluster. */
export function podHostname(
  pod: Pick<DesiredPod, 'name' | 'namespace' | 'spec'>,
  options: HostnameOptions,
): PodHostname {
  const { hostname, hostnameOverride, subdomain } = pod.spec;
  if (options.allowOverride && hostnameOverride) return { hostname: hostnameOverride, domain: '' };
  return {
    hostname: hostname || truncated(pod.name),
    domain: subdomain ? `${subdomain}.${pod.namespace}.svc.${options.clusterDomain}` : '',
  };
}

/** The kernel's host name inside the pod, or why there cannot be one. */
export function kernelHostname(
  { hostname, domain }: PodHostname,
  asFqdn: boolean | undefined,
): { readonly hostname: string } | { readonly problem: string } {
  if (asFqdn !== true || domain === '') return { hostname };
  const fqdn = `${hostname}.${domain}`;
  if (fqdn.length <= maxKernelHostname) return { hostname: fqdn };
  return {
    problem:
      `failed to construct FQDN from pod hostname and cluster domain, FQDN ${fqdn} is too long ` +
      `(${maxKernelHostname} characters is the max, ${fqdn.length} characters requested)`,
  };
}

function truncated(name: string): string {
  return name.length <= maxLabel ? name : name.slice(0, maxLabel).replace(/[-.]+$/, '');
}
