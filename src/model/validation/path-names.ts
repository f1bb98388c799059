import type { Pod } from '../../gen/kubernetes/types.ts';
import { Faults, type Fault } from './faults.ts';
import type { FieldPath } from './field-path.ts';
import { dnsLabel, dnsSubdomain, podUidText, type TextRule } from './names.ts';

/**
 * What is wrong with the names of a pod that become names of folders, logs, cgroups and hosts. An API server lets none
 * of these pass; one that does must not lead the agent out of its own folders.
 */
export function validatePathNames({ metadata = {}, spec }: Pod): readonly Fault[] {
  const faults = new Faults();
  const check = (path: FieldPath, value: string | undefined, rule: TextRule): void => {
    if (value !== undefined) faults.check(path, value, rule);
  };
  check(['metadata', 'uid'], metadata.uid, podUidText);
  check(['metadata', 'name'], metadata.name, dnsSubdomain);
  check(['metadata', 'namespace'], metadata.namespace, dnsLabel);
  for (const field of ['initContainers', 'containers', 'ephemeralContainers', 'volumes'] as const)
    for (const [index, { name }] of (spec?.[field] ?? []).entries())
      check(['spec', field, index, 'name'], name, dnsLabel);
  for (const field of ['hostname', 'subdomain'] as const) check(['spec', field], spec?.[field] || undefined, dnsLabel);
  check(['spec', 'hostnameOverride'], spec?.hostnameOverride || undefined, dnsSubdomain);
  return faults.list;
}
