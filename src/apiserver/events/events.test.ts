import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Heartbeats } from '../../base/heartbeats.ts';
import { TubeletError } from '../../base/errors.ts';
import type { Event } from '../../gen/kubernetes/types.ts';
import type { ApiWriter } from '../../model/api-client.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { Registry } from '../../telemetry/index.ts';
import { combinedPrefix, EventCorrelator, type ObservedEvent } from './correlate.ts';
import { EventRecorder } from './event-recorder.ts';

const started = (more: Partial<ObservedEvent> = {}): ObservedEvent => ({
  about: {
    kind: 'Pod',
    namespace: 'shop',
    name: 'web',
    uid: 'u1',
    apiVersion: 'v1',
    fieldPath: 'spec.containers{c}',
  },
  type: 'Normal',
  reason: 'Started',
  message: 'Started container c',
  ...more,
});

describe('EventCorrelator', () => {
  test('warnings do not use up the limit of normal events', () => {
    const correlator = new EventCorrelator();
    const say = (type: 'Normal' | 'Warning') => correlator.correlate(started({ type }), 0).kind;
    const complaints = Array.from({ length: 26 }, () => say('Warning'));
    assert.deepEqual([complaints.at(-1), say('Normal')], ['spam', 'record']);
  });

  test('one object may have 25 events at once, then one in five minutes; others are not affected', () => {
    const correlator = new EventCorrelator();
    const say = (atMs: number, name = 'web'): string =>
      correlator.correlate(started({ about: { kind: 'Pod', name } }), atMs).kind;
    const kinds = Array.from({ length: 26 }, () => say(0));
    assert.deepEqual(kinds, [...Array.from({ length: 25 }, () => 'record'), 'spam']);
    assert.deepEqual([say(0, 'other'), say(299_000), say(301_000), say(301_000)], ['record', 'spam', 'record', 'spam']);
  });

  test('the tenth message of a kind and later ones are recorded as one', () => {
    const correlator = new EventCorrelator();
    const correlate = (message: string, atMs = 0): { key: string; message: string } => {
      const correlated = correlator.correlate(started({ message }), atMs);
      assert.equal(correlated.kind, 'record');
      return correlated.kind === 'record' ? correlated : assert.fail();
    };
    const correlated = Array.from({ length: 12 }, (_, index) => correlate(`message ${index}`));
    assert.equal(new Set(correlated.slice(0, 9).map(({ key }) => key)).size, 9);
    assert.equal(new Set(correlated.slice(9).map(({ key }) => key)).size, 1);
    assert.deepEqual([correlated[8]?.message, correlated[9]?.message], ['message 8', `${combinedPrefix}message 9`]);
    assert.equal(correlate('much later', 700_000).message, 'much later');
  });
});

class World {
  readonly clock = new FakeClock();
  readonly registry = new Registry();
  readonly log = new MemoryLog();
  readonly stored = new Map<string, Event>();
  readonly calls: string[] = [];
  failure: TubeletError | undefined;
  losesAnswers = false;
  /** While set, calls wait for it. */
  gate: Promise<void> | undefined;
  readonly recorder = new EventRecorder({
    heartbeats: new Heartbeats(),
    clock: this.clock,
    random: seededRandom(1),
    log: this.log,
    metrics: this.registry,
    host: 'n1',
    api: {
      create: async (_, namespace, object) => {
        const event = object as unknown as Event;
        await this.#call(`create ${namespace} ${event.reason} ${event.count}`);
        const name = event.metadata.name ?? '';
        if (this.stored.has(name)) throw new TubeletError('alreadyExists', `event ${name} already exists`);
        this.stored.set(name, event);
        if (this.losesAnswers) throw new TubeletError('unavailable', 'the connection broke');
        return object as never;
      },
      patch: async (_, ref, patch) => {
        const { count } = patch as Event;
        await this.#call(`patch ${ref.namespace} ${count}`);
        const known = this.stored.get(ref.name);
        if (known === undefined) throw new TubeletError('notFound', 'gone');
        this.stored.set(ref.name, { ...known, ...(patch as Event) });
        return known as never;
      },
    } satisfies Pick<ApiWriter, 'create' | 'patch'>,
  });

  async #call(call: string): Promise<void> {
    this.calls.push(call);
    await this.gate;
    if (this.failure !== undefined) throw this.failure;
  }

  lost(why: string): number {
    const match = new RegExp(`tubelet_events_lost_total\\{why="${why}"\\} (\\d+)`).exec(this.registry.render());
    return Number(match?.[1] ?? 0);
  }
}

async function running(): Promise<World> {
  const world = new World();
  await world.recorder.start();
  return world;
}

describe('EventRecorder', () => {
  test('an event has the shape that kubectl expects', async () => {
    const world = await running();
    world.recorder.record(started());
    await world.clock.settle();
    const [event] = [...world.stored.values()];
    assert.match(event?.metadata.name ?? '', /^web\.[0-9a-f]{14,16}$/);
    const { metadata: _, firstTimestamp, lastTimestamp, ...rest } = event ?? assert.fail('no event');
    assert.equal(firstTimestamp, lastTimestamp);
    assert.deepEqual(rest, {
      apiVersion: 'v1',
      kind: 'Event',
      involvedObject: started().about,
      reason: 'Started',
      message: 'Started container c',
      type: 'Normal',
      source: { component: 'kubelet', host: 'n1' },
      count: 1,
      reportingComponent: 'kubelet',
      reportingInstance: 'n1',
    });
    await world.recorder.stop();
  });

  test('the same event again is a higher count, also while it is being sent', async () => {
    const world = await running();
    world.recorder.record(started());
    await world.clock.settle();
    world.recorder.record(started());
    await world.clock.settle();
    let open = (): void => {};
    world.gate = new Promise((resolve) => (open = resolve));
    for (let at = 0; at < 3; at++) {
      world.recorder.record(started());
      await world.clock.settle();
    }
    open();
    await world.clock.settle();
    assert.deepEqual(world.calls, ['create shop Started 1', 'patch shop 2', 'patch shop 3', 'patch shop 5']);
    assert.deepEqual(
      [...world.stored.values()].map(({ count }) => count),
      [5],
    );
    await world.recorder.stop();
  });

  test('one whose answer was lost exists, and later ones are counted', async () => {
    const world = await running();
    world.losesAnswers = true;
    world.recorder.record(started());
    await world.clock.settle();
    world.losesAnswers = false;
    world.recorder.record(started());
    await world.clock.advance(10_000);
    assert.deepEqual(
      [...world.stored.values()].map(({ count }) => count),
      [2],
    );
    assert.deepEqual(world.calls, ['create shop Started 1', 'create shop Started 2', 'patch shop 2']);
    await world.recorder.stop();
  });

  test('one that the server has removed is created anew', async () => {
    const world = await running();
    world.recorder.record(started());
    await world.clock.settle();
    world.stored.clear();
    world.recorder.record(started());
    await world.clock.settle();
    assert.deepEqual(world.calls, ['create shop Started 1', 'patch shop 2', 'create shop Started 2']);
    await world.recorder.stop();
  });

  test('a server that is unavailable for an hour gets everything, in order', async () => {
    const world = await running();
    world.failure = new TubeletError('unavailable', 'connection refused');
    world.recorder.record(started());
    world.recorder.record(started({ reason: 'Killing', message: 'Stopping container c' }));
    await world.clock.advance(3_600_000);
    world.failure = undefined;
    world.calls.length = 0;
    await world.clock.advance(60_000);
    assert.deepEqual(world.calls, ['create shop Started 1', 'create shop Killing 1']);
    assert.equal(world.lost('gaveUp'), 0);
    await world.recorder.stop();
  });

  test('a refused event is counted and does not hold up the next', async () => {
    const world = await running();
    world.failure = new TubeletError('denied', 'namespace is terminating');
    world.recorder.record(started());
    await world.clock.settle();
    world.failure = undefined;
    world.recorder.record(started({ reason: 'Pulled' }));
    await world.clock.settle();
    assert.deepEqual(world.calls, ['create shop Started 1', 'create shop Pulled 1']);
    assert.equal(world.lost('refused'), 1);
    assert.deepEqual(
      world.log.entries.map(({ fields }) => fields),
      [
        {
          pod: { namespace: 'shop', name: 'web' },
          podUID: 'u1',
          reason: 'Started',
          err: 'namespace is terminating',
        },
      ],
    );
    await world.recorder.stop();
  });

  test('beyond the limit the oldest events are lost, and counted', async () => {
    const world = await running();
    world.failure = new TubeletError('unavailable', 'connection refused');
    for (let at = 0; at < 1_010; at++) world.recorder.record(started({ about: { kind: 'Pod', name: `p${at}` } }));
    await world.clock.settle();
    assert.equal(world.lost('overflow'), 10);
    world.failure = undefined;
    await world.clock.advance(60_000);
    assert.equal(world.stored.size, 1_000);
    await world.recorder.stop();
    assert.equal(world.clock.pending(), 0);
  });

  test('a caller can wait until all events are sent', async () => {
    const world = await running();
    let open = (): void => {};
    world.gate = new Promise((resolve) => (open = resolve));
    world.recorder.record(started());
    let flushed = false;
    const waiting = world.recorder.flushed(new AbortController().signal).then(() => (flushed = true));
    await world.clock.advance(1_000);
    assert.equal(flushed, false);
    open();
    await world.clock.advance(1_000);
    await waiting;
    assert.equal(world.stored.size, 1);
    await world.recorder.stop();
  });
});
