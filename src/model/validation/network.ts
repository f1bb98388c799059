import type { PodSpec } from '../../gen/kubernetes/types.ts';
import type { Faults } from './faults.ts';
import type { FieldPath } from './field-path.ts';
import { dnsLabel, dnsSearch, dnsSubdomain, ipAddress } from './names.ts';

const maxNameservers = 3;
const maxSearches = 32;
const maxSearchCharacters = 2048;
/** The longest host name that the kernel takes. */
const maxHostname = 64;

/** Names and addresses by which the pod is known and finds others. */
export function validateNetwork(spec: PodSpec, path: FieldPath, faults: Faults): void {
  faults.oneOf([...path, 'dnsPolicy'], spec.dnsPolicy, ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None']);
  validateDnsConfig(spec, [...path, 'dnsConfig'], faults);
  if (spec.hostname) faults.check([...path, 'hostname'], spec.hostname, dnsLabel);
  if (spec.subdomain) faults.check([...path, 'subdomain'], spec.subdomain, dnsLabel);
  validateHostnameOverride(spec, [...path, 'hostnameOverride'], faults);
  for (const [index, alias] of (spec.hostAliases ?? []).entries()) {
    const at = [...path, 'hostAliases', index];
    faults.check([...at, 'ip'], alias.ip, ipAddress);
    alias.hostnames?.forEach((name, position) => faults.check([...at, 'hostnames', position], name, dnsSubdomain));
  }
}

function validateDnsConfig(spec: PodSpec, path: FieldPath, faults: Faults): void {
  const { nameservers = [], searches = [], options = [] } = spec.dnsConfig ?? {};
  if (spec.dnsPolicy === 'None' && nameservers.length === 0) {
    const at = spec.dnsConfig === undefined ? path : [...path, 'nameservers'];
    faults.required(at, 'must provide at least one DNS nameserver when `dnsPolicy` is None');
  }
  if (nameservers.length > maxNameservers) {
    faults.invalid([...path, 'nameservers'], nameservers, `must not have more than ${maxNameservers} nameservers`);
  }
  nameservers.forEach((server, index) => faults.check([...path, 'nameservers', index], server, ipAddress));
  if (searches.length > maxSearches) {
    faults.invalid([...path, 'searches'], searches, `must not have more than ${maxSearches} search paths`);
  }
  if (searches.join(' ').length > maxSearchCharacters) {
    const detail = `must not have more than ${maxSearchCharacters} characters together, spaces included`;
    faults.invalid([...path, 'searches'], searches, detail);
  }
  searches.forEach((search, index) => faults.check([...path, 'searches', index], search, dnsSearch));
  options.forEach((option, index) => {
    if (!option.name) faults.required([...path, 'options', index, 'name']);
  });
}

function validateHostnameOverride(spec: PodSpec, path: FieldPath, faults: Faults): void {
  const { hostnameOverride } = spec;
  if (hostnameOverride === undefined) return;
  if (spec.setHostnameAsFQDN === true) faults.forbidden(path, 'may not be specified when setHostnameAsFQDN is true');
  if (spec.hostNetwork === true) faults.forbidden(path, 'may not be specified when hostNetwork is true');
  if (hostnameOverride.length > maxHostname) {
    faults.invalid(path, hostnameOverride, `must be no more than ${maxHostname} characters`);
  }
  faults.check(path, hostnameOverride, dnsSubdomain);
}
