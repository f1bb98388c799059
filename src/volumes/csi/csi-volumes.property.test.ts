import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { podUid } from '../../base/ids.ts';
import { csiDriverName, csiWorld } from '../../testing/csi-world.ts';
import { aClaimedVolume } from '../../testing/persistent-volumes.ts';
import { aPod } from '../../testing/pods.ts';
import type { VolumePlace, VolumeRequest } from '../ports.ts';
import type { CsiFileVolumes } from './csi-volumes.ts';

const pods = ['uid-1', 'uid-2'] as const;
const claims = ['data', 'other'] as const;
const verbs = ['nodeStageVolume', 'nodePublishVolume', 'nodeUnpublishVolume', 'nodeUnstageVolume'] as const;

type Step =
  | { readonly what: 'up' | 'down'; readonly pod: string; readonly claim: string; readonly waits: boolean }
  | { readonly what: 'fail'; readonly verb: (typeof verbs)[number]; readonly how: 'last word' | 'lost' | 'lost answer' }
  | { readonly what: 'settle' | 'kill' | 'away' | 'back' };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      what: fc.constantFrom('up' as const, 'down' as const),
      pod: fc.constantFrom(...pods),
      claim: fc.constantFrom(...claims),
      waits: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant('fail' as const),
      verb: fc.constantFrom(...verbs),
      how: fc.constantFrom('last word' as const, 'lost' as const, 'lost answer' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constantFrom('settle' as const, 'kill' as const) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constantFrom('away' as const, 'back' as const) }) },
);

/** What becomes of one volume of one pod: one operation after the other, as pod workers run them. */
interface Line {
  end: Promise<void>;
  abort: AbortController;
  isUp: boolean;
}

class Run {
  readonly world = csiWorld();
  readonly #lines = new Map<string, Line>();
  #service: CsiFileVolumes = this.world.volumes();

  async take(step: Step): Promise<void> {
    const { driver, state } = this.world;
    switch (step.what) {
      case 'up':
        this.#up(step.pod, step.claim);
        if (step.waits) await this.settle();
        break;
      case 'down':
        this.#down({ uid: podUid(step.pod), name: `pv-${step.claim}` });
        if (step.waits) await this.settle();
        break;
      case 'fail':
        driver.fail(step.verb, {
          code: step.how === 'last word' ? 'INTERNAL' : 'UNAVAILABLE',
          afterwards: step.how === 'lost answer',
        });
        break;
      case 'settle':
        await this.settle();
        break;
      case 'kill':
        await this.#kill();
        break;
      case 'away':
        state.away = true;
        break;
      case 'back':
        state.away = false;
        await this.#service.cleanUp(csiDriverName);
        break;
    }
  }

  /** Every pod that is up has its volume, whatever happened to others. */
  async settle(): Promise<void> {
    await Promise.all([...this.#lines.values()].map(({ end }) => end));
    for (const [key, { isUp }] of this.#lines) {
      const [uid = '', name = ''] = key.split('/');
      const volume = this.world.driver.volumes.get(name.replace('pv', 'handle'));
      const target = `/k/pods/${uid}/volumes/kubernetes.io~csi/${name}/mount`;
      if (isUp) assert.deepEqual([volume?.staged !== undefined, volume?.published.has(target)], [true, true], key);
    }
  }

  async finish(): Promise<void> {
    const { driver, files, remains, broken, state } = this.world;
    await this.settle();
    state.away = false;
    driver.heal();
    // The next process knows what is on disk.
    await this.#kill();
    for (const uid of pods.map(podUid)) {
      for (const name of await files.list(`/k/pods/${uid}/volumes/kubernetes.io~csi`)) this.#down({ uid, name });
    }
    await this.settle();
    await this.#service.cleanUp();
    assert.deepEqual([driver.volumes.inUse(), remains(), [...files.mounts.keys()], broken], [[], [], [], []]);
    assert.deepEqual(this.#service.inUse(), []);
    assert.equal(await files.readText('/csi/precious'), 'data');
  }

  #lineOf(key: string): Line {
    const line = this.#lines.get(key) ?? { end: Promise.resolve(), abort: new AbortController(), isUp: false };
    this.#lines.set(key, line);
    return line;
  }

  #up(pod: string, claim: string): void {
    const line = this.#lineOf(`${pod}/pv-${claim}`);
    const service = this.#service;
    const request: VolumeRequest = {
      pod: aPod({ uid: pod }),
      volume: { name: claim, persistentVolumeClaim: { claimName: claim } },
      claimed: aClaimedVolume(
        { kind: 'csi', csi: { driver: csiDriverName, volumeHandle: `handle-${claim}` } },
        { name: `pv-${claim}` },
      ),
    };
    line.end = line.end.then(async () => {
      line.abort = new AbortController();
      await service.setUp(request, line.abort.signal).then(
        () => (line.isUp = true),
        () => {},
      );
    });
  }

  #down(place: VolumePlace): void {
    const line = this.#lineOf(`${place.uid}/${place.name}`);
    const service = this.#service;
    line.abort.abort();
    line.end = line.end.then(async () => {
      line.isUp = false;
      await service.tearDown(place).catch(() => {});
    });
  }

  /** A dead process does nothing more; what was under way stays as it is, and another one reads the disk. */
  async #kill(): Promise<void> {
    const { files } = this.world;
    files.fault = () => {
      throw new Error('killed');
    };
    await Promise.all([...this.#lines.values()].map(({ end }) => end));
    files.fault = () => {};
    this.#service = this.world.volumes();
    await this.#service.start();
  }
}

test('however pods come and go, the agent dies and the driver fails: all is torn down once no pod has it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 4, maxLength: 30 }), async (steps) => {
      const run = new Run();
      for (const step of steps) await run.take(step);
      await run.finish();
    }),
    { numRuns: 80 },
  );
});
