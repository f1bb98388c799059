import type { PodStatus } from '../../src/gen/kubernetes/types.ts';
import type { PodEvent } from '../../src/model/object-event.ts';
import type { FakeCall } from '../../src/testing/fake-cri/index.ts';
import type { GoldenRecord } from '../../src/testing/golden.ts';
import { sooner } from './differences.ts';
import { GoldenWorld } from './golden-world.ts';
import { translator } from './recorded-names.ts';

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

/** Longer than any recorded pod took to end. */
const endMs = 60_000;
/** Static pods have no word about how long they were held: until they ran, and three seconds. */
const staticHold = 4;

/** As the recorder did it: make the pod, leave it alone for a while, delete it, and wait until it is gone. */
export async function replay(record: GoldenRecord): Promise<Replay> {
  const isStatic = record.source === 'file';
  const world = new GoldenWorld(record);
  const { clock, names } = world;
  await world.start();
  world.makePod();
  const hold = isStatic ? staticHold : (sooner.get(record.name)?.holdSeconds ?? record.recording?.hold ?? 0);
  await clock.advance(hold * 1_000);
  const uid = uidOf(world);
  const seen = await look(world, uid);
  world.deletePod();
  await clock.runUntil(() => world.pod() === undefined, endMs);
  await clock.advance(2_000);
  await world.stop();
  const { calls } = world.cri;
  const translate = translator({ calls, uid, names, isStatic });
  return translate({ calls, statuses: world.statuses, events: world.events(), ...seen });
}

/** The uid of a static pod is not that of its mirror. */
function uidOf(world: GoldenWorld): string {
  const { uid, annotations } = world.pod()?.metadata ?? {};
  const found = annotations?.['kubernetes.io/config.mirror'] ?? uid;
  if (found === undefined) throw new Error('the pod is not at the API server');
  return found;
}

type Seen = Pick<Replay, 'files' | 'hosts' | 'held'>;

async function look({ files, statuses, names }: GoldenWorld, uid: string): Promise<Seen> {
  const folder = `${names.rootDir}/pods/${uid}`;
  const hosts = files.has(`${folder}/etc-hosts`) ? await files.readText(`${folder}/etc-hosts`) : undefined;
  return { files: files.listing(folder), hosts, held: statuses.at(-1) };
}
