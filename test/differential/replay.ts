import type { PodStatus } from '../../src/gen/kubernetes/types.ts';
import { apiTime } from '../../src/model/api-time.ts';
import { desiredPod, podObject, type DesiredPod } from '../../src/model/desired-pod.ts';
import type { PodEvent } from '../../src/model/object-event.ts';
import { defaultPod } from '../../src/model/pod-defaults.ts';
import { toStaticPod } from '../../src/model/static-pod.ts';
import type { FakeCall } from '../../src/testing/fake-cri/index.ts';
import { goldenPod, type GoldenRecord } from '../../src/testing/golden.ts';
import { sooner } from './differences.ts';
import { GoldenWorld } from './golden-world.ts';

/** What the agent did with a recorded pod, in the words of the records: placeholders for names, ids and times. */
export interface Replay {
  readonly calls: readonly FakeCall[];
  readonly statuses: readonly PodStatus[];
  /** The status when the pod was deleted. */
  readonly held: PodStatus | undefined;
  readonly events: readonly PodEvent[];
  /** Mode, owner, kind and path of what was under the pod's directory when it was deleted. */
  readonly files: readonly string[];
  readonly hosts: string | undefined;
}

/** The name of the recorded node, as the names of its static pods show it. */
const staticNode = 'vm';
/** Longer than any recorded pod took to end. */
const endMs = 60_000;
/** How long an answer of the API server is under way. */
const apiMs = 5;
/** Static pods have no word about how long they were held: until they ran, and three seconds. */
const staticHold = 4;

export async function replay(record: GoldenRecord): Promise<Replay> {
  return record.source === 'file' ? replayStatic(record) : replayApi(record);
}

/** As the recorder did it: make the pod, leave it alone for a while, delete it, and wait until it is gone. */
async function replayApi(record: GoldenRecord): Promise<Replay> {
  const world = new GoldenWorld(record, 'api', '{{node}}');
  const { clock, machine } = world;
  let pod: DesiredPod | undefined = goldenPod(record);
  const { uid } = pod;
  const tell = (): void => machine.set('api', pod === undefined ? [] : [pod]);
  // What the agent writes comes back to it with the next word of the API server.
  world.onStatus = (status) => {
    pod = pod && desiredPod('api', { ...podObject(pod), status });
    clock.after(apiMs, tell);
  };
  await world.start();
  tell();
  await clock.advance((sooner.get(record.name)?.holdSeconds ?? record.recording?.hold ?? 0) * 1_000);
  const seen = await look(world, uid);
  const { terminationGracePeriodSeconds: grace = 30 } = pod.spec;
  const metadata = {
    ...pod.metadata,
    generation: 2,
    deletionTimestamp: apiTime(clock.now() + grace * 1_000),
    deletionGracePeriodSeconds: grace,
  };
  pod = desiredPod('api', { ...podObject(pod), metadata });
  tell();
  // Only a pod that was let in has somebody who ends it.
  const ended = (): boolean => !machine.lifecycles.knows(uid) || machine.lifecycles.isFinished(uid);
  await clock.runUntil(ended, endMs);
  pod = undefined;
  tell();
  await clock.advance(2_000);
  await world.stop();
  return inRecordedWords(world, uid, seen);
}

/** A manifest in the folder, later taken out of it. */
async function replayStatic(record: GoldenRecord): Promise<Replay> {
  const world = new GoldenWorld(record, 'file', staticNode);
  const { clock, machine } = world;
  const origin = {
    nodeName: staticNode,
    source: 'file',
    origin: '/manifests/pod.json',
    seen: apiTime(clock.now()),
  } as const;
  const pod = desiredPod('file', toStaticPod(defaultPod(record.manifest), origin));
  await world.start();
  machine.set('file', [pod]);
  await clock.advance(staticHold * 1_000);
  const seen = await look(world, pod.uid);
  machine.set('file', []);
  await clock.advance(endMs);
  await world.stop();
  return inRecordedWords(world, pod.uid, seen);
}

type Seen = Pick<Replay, 'files' | 'hosts' | 'held'>;

async function look({ files, statuses }: GoldenWorld, uid: string): Promise<Seen> {
  const folder = `{{rootDir}}/pods/${uid}`;
  const hosts = files.has(`${folder}/etc-hosts`) ? await files.readText(`${folder}/etc-hosts`) : undefined;
  return { files: files.listing(folder), hosts, held: statuses.at(-1) };
}

function inRecordedWords(world: GoldenWorld, uid: string, seen: Seen): Replay {
  const translate = translator(world.cri.calls, uid);
  return translate({ calls: world.cri.calls, statuses: world.statuses, events: world.events, ...seen });
}

/** Puts the placeholders of the records in the place of what differs from one run to the next. */
function translator(calls: readonly FakeCall[], uid: string): <T>(value: T) => T {
  const ids = new Map(idsIn(calls).map((id, number) => [id, `{{id${number}}}`]));
  const words = (text: string): string =>
    text
      .replaceAll(uid, '{{podUid}}')
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
