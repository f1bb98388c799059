import type { GoldenRecord } from '../../src/testing/golden.ts';
import type { FakeCall } from '../../src/testing/fake-cri/index.ts';

/** Names that a cluster takes, in the place of the placeholders of the records. */
export interface RecordedNames {
  readonly node: string;
  readonly namespace: string;
  readonly rootDir: string;
  readonly hostIp: string;
  readonly serviceIp: string;
  /** The end of a name that the API server made up. */
  readonly suffix: string;
}

/** Records of static pods carry the real names of the node and of the service's address. */
export function namesOf(record: GoldenRecord): RecordedNames {
  const isStatic = record.source === 'file';
  return {
    node: isStatic ? 'vm' : 'recorded-node',
    namespace: 'recorded-namespace',
    rootDir: '/recorded-root',
    hostIp: '203.0.113.77',
    serviceIp: (isStatic ? serviceIpIn(record) : undefined) ?? '10.96.77.7',
    suffix: 'suff1x',
  };
}

function serviceIpIn(record: GoldenRecord): string | undefined {
  const create = record.cri.find(({ verb }) => verb === 'CreateContainer')?.request.config;
  const envs = (create?.['envs'] ?? []) as readonly { readonly key: string; readonly value: string }[];
  return envs.find(({ key }) => key === 'WEB_SVC_SERVICE_HOST')?.value;
}

/** Puts names that a cluster takes in the place of the placeholders. */
export function inRealWords<T>(value: T, { node, namespace, suffix }: RecordedNames): T {
  const text = JSON.stringify(value)
    .replaceAll('{{namespace}}', namespace)
    .replaceAll('{{node}}', node)
    .replaceAll('{{rand}}', suffix);
  return JSON.parse(text) as T;
}

interface Played {
  readonly calls: readonly FakeCall[];
  readonly uid: string;
  readonly names: RecordedNames;
  /** Whether the record has placeholders for the names of the node and the service's address. */
  readonly isStatic: boolean;
}

/** Puts the placeholders of the records in the place of what differs from one run to the next. */
export function translator({ calls, uid, names, isStatic }: Played): <T>(value: T) => T {
  const ids = new Map(idsIn(calls).map((id, number) => [id, `{{id${number}}}`]));
  const words = (text: string): string =>
    (isStatic ? text : text.replaceAll(names.node, '{{node}}').replaceAll(names.serviceIp, '{{serviceIP}}'))
      .replaceAll(uid, '{{podUid}}')
      .replaceAll(names.namespace, '{{namespace}}')
      .replaceAll(names.rootDir, '{{rootDir}}')
      .replaceAll(names.hostIp, '{{hostIP}}')
      .replaceAll(names.suffix, '{{rand}}')
      .replace(/\b[0-9a-f]{64}\b/g, (id) => ids.get(id) ?? '{{digest}}')
      .replace(/\b10\.88\.\d+\.\d+\b/g, '{{podIP}}')
      .replace(/20\d\d-\d\d-\d\dT[\d:.]+Z/g, '{{time}}')
      .replace(/\.\.\d{4}(_\d\d){5}\.\d+/g, '..{{stamp}}')
      .replace(/(containers\/[a-z0-9]+\/)[0-9a-f]{8}\b/g, '$1{{rand}}');
  const translate = (value: unknown): unknown => {
    if (typeof value === 'string') return words(value);
    if (Array.isArray(value)) return value.map(translate);
    if (value instanceof Uint8Array) return words(Buffer.from(value).toString());
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [words(key), translate(entry)]));
  };
  return <T>(value: T): T => translate(value) as T;
}

/** Ids of sandboxes and containers in the order in which they were given out: each is used before the next is asked for. */
function idsIn(calls: readonly FakeCall[]): readonly string[] {
  const used = calls.flatMap(({ request }) => {
    const { podSandboxId, containerId } = request as { readonly podSandboxId?: string; readonly containerId?: string };
    return [podSandboxId, containerId].filter((id) => id !== undefined && id !== '');
  });
  return [...new Set(used)].filter((id) => id !== undefined);
}
