import { isIP } from 'node:net';
import type { Fault } from '../fault.ts';
import { isLabelValue, isQualifiedName, isRestrictedLabel } from './labels.ts';
import { check, oneOf, type ValidationInput } from './rule.ts';

export function checkTaints({ config }: ValidationInput): readonly Fault[] {
  const seen = new Set<string>();
  return config.registerWithTaints.flatMap(({ key, value, effect, timeAdded }, index) => {
    const field = `registerWithTaints.${index}`;
    const id = `${key}:${effect}`;
    const repeated = seen.has(id);
    seen.add(id);
    return [
      ...check(!isQualifiedName(key), `${field}.key`, key, 'must be a name or domain/name'),
      ...check(!isLabelValue(value), `${field}.value`, value, 'must be a label value (63 letters, digits, -, _, .)'),
      ...oneOf(`${field}.effect`, effect, ['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
      ...check(timeAdded !== undefined, `${field}.timeAdded`, timeAdded, 'must be left out'),
      ...check(repeated, field, id, 'must name each key and effect once'),
    ];
  });
}

/** Faults that need both the command line and the configuration to be found. */
export function checkCommandLine({ config, flags }: ValidationInput): readonly Fault[] {
  if (flags === undefined) return [];
  const { kubeconfig, lockFile, cloudProvider } = flags;
  const standalone = kubeconfig === '';
  const { enabled } = config.authentication.webhook;
  const { mode } = config.authorization;
  return [
    ...check(
      flags.exitOnLockContention && lockFile === '',
      '--exit-on-lock-contention',
      true,
      'needs --lock-file to be set',
    ),
    ...oneOf('--cloud-provider', cloudProvider, ['', 'external']),
    ...check(
      standalone && enabled,
      'authentication.webhook.enabled',
      enabled,
      'must be false without --kubeconfig: there is no API server to check tokens',
    ),
    ...check(
      standalone && mode === 'Webhook',
      'authorization.mode',
      mode,
      'must be AlwaysAllow without --kubeconfig: there is no API server to ask',
    ),
    ...check(
      config.runOnce && !standalone,
      'runOnce',
      true,
      'runs only the pods of local sources; remove it or start without --kubeconfig',
    ),
    ...checkNodeIp(flags.nodeIp),
    ...checkLabels(flags.nodeLabels),
  ];
}

/** Entries that are not addresses are ignored when the node starts; the others must be consistent. */
function checkNodeIp(text: string): readonly Fault[] {
  const addresses = nodeAddresses(text);
  const [first = '', second = ''] = addresses;
  const pair = addresses.length === 2;
  return [
    ...check(addresses.length > 2, '--node-ip', text, 'must be one address, or one of each family'),
    ...check(pair && isIP(first) === isIP(second), '--node-ip', text, 'must be two addresses of different families'),
    ...check(
      pair && addresses.some(isUnspecified),
      '--node-ip',
      text,
      'must not have 0.0.0.0 or :: in a pair of addresses',
    ),
  ];
}

export function nodeAddresses(text: string): readonly string[] {
  const words = text.split(',').map((word) => word.trim());
  return words.filter((word) => isIP(word) !== 0);
}

/** All spellings of "any address": zeros only. */
function isUnspecified(address: string): boolean {
  return /^[0.:]+$/.test(address);
}

function checkLabels(labels: Readonly<Record<string, string>>): readonly Fault[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...check(!isQualifiedName(key), '--node-labels', key, 'keys must be a name or domain/name'),
    ...check(
      !isLabelValue(value),
      '--node-labels',
      value,
      `the value of ${key} must be 63 letters, digits, -, _, . at most`,
    ),
    ...check(
      isRestrictedLabel(key),
      '--node-labels',
      key,
      'labels of kubernetes.io and k8s.io must be of those a node may set; use node.kubernetes.io or kubelet.kubernetes.io',
    ),
  ]);
}
