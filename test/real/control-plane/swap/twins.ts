import { join } from 'node:path';
import type { InstanceNames } from '../../../../src/up/index.ts';
import { cgroupValues } from './cgroup-values.ts';
import { flatten } from './flatten.ts';
import type { NodeLook } from './node-look.ts';
import { treeOf } from './tree.ts';

/** A pod as one agent made it, in words that do not tell it from an equal one of another agent. */
export interface Portrait {
  /** The pod's folder. */
  readonly files: ReadonlyMap<string, string>;
  readonly logs: ReadonlyMap<string, string>;
  readonly cgroups: ReadonlyMap<string, string>;
  /** What the runtime tells of its sandbox and containers. */
  readonly runtime: ReadonlyMap<string, string>;
  /** What the API server was told of it. */
  readonly status: ReadonlyMap<string, string>;
}

/** The parts of a portrait by what a reader of the comparison calls them. */
export const portraitParts = ['files', 'logs', 'cgroups', 'runtime', 'status'] as const;

export interface Sitter {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly ip: string;
  readonly status: unknown;
  /** Whatever else is its own: text → the word for it. */
  readonly own: Readonly<Record<string, string>>;
}

/** Moments, processes and names by chance: nothing that an agent asked for. */
const byChance: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{64}/g, '<id>'],
  [/cni-[0-9a-f-]{36}/g, '<netns>'],
  [/\/proc\/\d+\//g, '/proc/<pid>/'],
  [/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, '<token>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, '<time>'],
  [/(\/containers\/[^/"]+)\/[0-9a-f]{8}(?=")/g, '$1/<random>'],
  [/kube-api-access-\w{5}/g, 'kube-api-access-<random>'],
  [/\bveth[0-9a-f]{8}\b/g, '<veth>'],
  [/\b([0-9a-f]{2}:){5}[0-9a-f]{2}\b/g, '<mac>'],
];
const moments = /(^|\.)(pid|createdAt|startedAt|finishedAt|snapshotKey)$/;

export async function portrait(look: NodeLook, names: InstanceNames, sitter: Sitter): Promise<Portrait> {
  const { namespace, name, uid } = sitter;
  const say = (text: string): string => inCommonWords(text, sitter);
  const renamed = (leaves: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
    new Map([...leaves].map(([key, value]) => [say(key), say(value)]));
  const inspected: [string, unknown][] = [];
  for (const sandbox of await look.sandboxes()) {
    if (sandbox.podUid === uid) inspected.push([`sandbox#${sandbox.attempt}`, await look.inspectSandbox(sandbox.id)]);
  }
  const newest = new Map<string, { readonly id: string; readonly attempt: number }>();
  for (const container of await look.containers()) {
    const known = newest.get(container.owner);
    if (container.podUid === uid && (known?.attempt ?? -1) < container.attempt) newest.set(container.owner, container);
  }
  for (const [owner, { id }] of newest) inspected.push([owner.split('/')[2] ?? '', await look.inspectContainer(id)]);
  const runtime = flatten(Object.fromEntries(inspected.map(([key, value]) => [key, inOrder(value)])));
  const logFolder = join(names.podLogs, `${namespace}_${name}_${uid}`);
  return {
    files: renamed(treeOf(join(names.kubeletRoot, 'pods', uid), say)),
    logs: renamed(treeOf(logFolder, () => '')),
    cgroups: renamed(podCgroups(names, uid)),
    runtime: renamed(new Map([...runtime].filter(([key]) => !moments.test(key)))),
    status: renamed(flatten(sitter.status)),
  };
}

function podCgroups({ cgroupRoot }: InstanceNames, uid: string): ReadonlyMap<string, string> {
  const tiers = ['kubepods', 'kubepods/burstable', 'kubepods/besteffort'];
  return new Map(
    tiers.flatMap((tier) =>
      [...cgroupValues(join(cgroupRoot, tier, `pod${uid}`))].map(([key, value]) => [`${tier} ${key}`, value] as const),
    ),
  );
}

function inCommonWords(text: string, { namespace, uid, ip, own }: Sitter): string {
  const words = [[uid, '<uid>'], ...Object.entries(own), [ip, '<ip>'], [namespace, '<namespace>']] as const;
  const plain = words.filter(([from]) => from !== '').reduce((said, [from, to]) => said.replaceAll(from, to), text);
  return byChance.reduce((said, [pattern, word]) => said.replaceAll(pattern, word), plain);
}

/** Lists whose order means nothing: services become variables in the order of a map. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(inOrder);
    return items.every(isVariable) ? items.toSorted((one, other) => (text(one) < text(other) ? -1 : 1)) : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inOrder(item)]));
}

function isVariable(item: unknown): boolean {
  if (typeof item === 'string') return /^\w+=/.test(item);
  return typeof item === 'object' && item !== null && 'key' in item && 'value' in item;
}

const text = (value: unknown): string => JSON.stringify(value);
