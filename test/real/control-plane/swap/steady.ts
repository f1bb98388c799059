import type { Pod } from '../../../../src/gen/kubernetes/types.ts';
import { until } from '../../../support/real-wait.ts';
import { describeDifference, differencesOf, flatten } from './flatten.ts';
import type { Inside, NodeLook } from './node-look.ts';
import type { PodWatch } from './pod-watch.ts';

/** Whether a pod, by its name, is one that nothing should happen to. */
type IsSteady = (name: string) => boolean;

/** What pods are made of at one moment, as runtime, kernel and their own programs see it. */
export interface Scene {
  /** Sandboxes and containers → attempt and state. */
  readonly held: ReadonlyMap<string, string>;
  /** Mounts in the folders of pods. */
  readonly mounts: ReadonlyMap<string, string>;
  /** Running containers → what they see of their volumes. */
  readonly inside: ReadonlyMap<string, Inside>;
}

export async function sceneOf(look: NodeLook, isSteady: IsSteady): Promise<Scene> {
  const [sandboxes, containers] = [await look.sandboxes(), await look.containers()];
  const steady = [...sandboxes, ...containers].filter(({ owner }) => isSteady(owner.split('/').slice(0, 2).join('/')));
  const uids = new Set(steady.map(({ podUid }) => podUid));
  const inside = new Map<string, Inside>();
  for (const { id, owner, running } of steady) {
    if (!running || owner.split('/').length < 3) continue;
    // Files may be replaced while one looks at them.
    const seen = await until(`volumes of ${owner} are seen`, () => look.inside(id));
    inside.set(`${owner} ${id.slice(0, 12)}`, seen);
  }
  return {
    held: new Map(steady.map(({ id, owner, attempt, running }) => [`${owner} ${id}`, `#${attempt} ${running}`])),
    mounts: new Map(
      look
        .mounts()
        .filter((line) => [...uids].some((uid) => line.includes(uid)))
        .map((line) => [line, 'mounted']),
    ),
    inside,
  };
}

/** What is not as it was, in words. */
export function changesBetween(before: Scene, after: Scene): readonly string[] {
  const said = (what: string, one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): string[] =>
    differencesOf(one, other).map((pair) => `${what} ${describeDifference(pair)}`);
  const asMap = (lines: readonly string[] = []): ReadonlyMap<string, string> =>
    new Map(lines.map((line) => [line, 'mounted']));
  return [
    ...said('held', before.held, after.held),
    ...said('mount', before.mounts, after.mounts),
    ...[...before.inside].flatMap(([owner, { mounts, files }]) => {
      const now = after.inside.get(owner);
      return [
        ...said(`mount inside ${owner}`, asMap(mounts), asMap(now?.mounts)),
        ...said(`file inside ${owner}`, files, now?.files ?? new Map()),
      ];
    }),
  ];
}

/** How much there was to compare. */
export function countsOf({ held, mounts, inside }: Scene): string {
  const seen = [...inside.values()];
  const mountsInside = seen.reduce((sum, one) => sum + one.mounts.length, 0);
  const files = seen.reduce((sum, one) => sum + one.files.size, 0);
  return (
    `${held.size} sandboxes and containers, ${mounts.size} mounts on the node, ` +
    `${mountsInside} mounts and ${files} files and contents seen from inside ${inside.size} containers`
  );
}

/** Every change of every version of these pods since a moment of the watch, but for the API server's own bookkeeping. */
export function versionChanges(
  watch: PodWatch,
  before: ReadonlyMap<string, Pod>,
  since: number,
  isSteady: IsSteady,
): readonly string[] {
  const plain = ({ metadata, spec, status }: Pod): unknown => {
    const { managedFields: _, resourceVersion: __, ...rest } = metadata ?? {};
    return { metadata: rest, spec, status };
  };
  const found = [...before]
    .filter(([name]) => isSteady(name))
    .flatMap(([name, first]) => {
      let last = first;
      return watch.versions(name, since).flatMap(({ type, object }) => {
        const pairs = differencesOf(flatten(plain(last)), flatten(plain(object)));
        last = object;
        return [...(type === 'DELETED' ? ['it was deleted'] : []), ...pairs.map(describeDifference)].map(
          (change) => `${name} ${change}`,
        );
      });
    });
  const strangers = watch.versions(undefined, since).filter(({ type, object }) => {
    const name = `${object.metadata?.namespace}/${object.metadata?.name}`;
    return type === 'ADDED' && isSteady(name);
  });
  return [...found, ...strangers.map(({ object }) => `${object.metadata?.name} was made`)];
}
