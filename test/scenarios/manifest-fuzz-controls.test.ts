import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, test } from 'node:test';
import { failsToStart } from '../../src/testing/fake-cri/index.ts';
import { file, type ManifestCase } from '../fuzz/manifests/case.ts';
import { makeCase } from '../fuzz/manifests/cases.ts';
import { fuzzManifests, type ManifestLimits } from '../fuzz/manifests/fuzz.ts';
import { transcriptOf } from '../fuzz/manifests/transcript.ts';
import type { ManifestWorld } from '../fuzz/manifests/world.ts';

// A run that finds nothing is worth as much as what it would have found: here the node is broken on purpose.

const pod = (name: string, container = ''): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      containers: [{ name: 'c', image: `localhost/test/busybox:1`, ...(container !== '' && { args: [container] }) }],
    },
  });
const cases = 4;

/** Some good pods, thrown at a world in which something is wrong. */
async function findings(
  sabotage: (world: ManifestWorld) => void,
  limits: Partial<ManifestLimits> = {},
  source: EventEmitter = process,
  make = (number: number): ManifestCase => ({
    kind: 'control',
    world: 'folder',
    files: [file('a-pod.yaml', pod(`a-${number}`))],
    objects: [],
  }),
): Promise<readonly string[]> {
  const report = await fuzzManifests({ seed: 1, cases, make, sabotage, limits, process: source });
  return report.findings.map(({ problem }) => problem);
}

function assertFound(found: readonly string[], ...wanted: readonly RegExp[]): void {
  for (const one of wanted)
    assert.ok(
      found.some((problem) => one.test(problem)),
      `${String(one)} is not among ${found.join('\n')}`,
    );
}

describe('a run of hostile manifests finds', { timeout: 110_000 }, () => {
  test('nothing where nothing is wrong', async () => {
    assert.deepEqual(await findings(() => {}), []);
  });

  test('a manifest source that stops looking', async () => {
    const found = await findings(({ folder }) => {
      folder.readdir = async () => {
        throw new TypeError('broken');
      };
    });
    assertFound(
      found,
      /^a good pod does not start afterwards: not reached within/,
      /^a bug shows in the log: .*TypeError/,
      /was neither taken nor refused$/,
    );
  });

  test('pods that are not removed', async () => {
    const found = await findings(({ node }) => node.cri.faults.fail('removePodSandbox', 'internal', { message: 'no' }));
    assertFound(found, /^\d+ things are left: sandbox /);
  });

  test('a good pod that dies of it', async () => {
    const found = await findings(({ node }) => {
      node.cri.programs.otherwise(({ container }) => {
        if (container === 'c')
          for (const { id, config } of node.cri.state.containers.values())
            if (config.metadata?.name === 'main') node.cri.killContainer(id);
        return {};
      });
    });
    assertFound(found, /^the good pod (good|more)-node-1 (was restarted|is not ready any more)/);
  });

  test('an error that no code catches', async () => {
    const source = new EventEmitter();
    const found = await findings(
      ({ node }) =>
        node.cri.programs.otherwise(() => {
          source.emit('unhandledRejection', new Error('lost'));
          return {};
        }),
      {},
      source,
    );
    assertFound(found, /Error: lost/);
  });

  test('what takes the processor, and what keeps memory', async () => {
    const kept: Buffer[] = [];
    const found = await findings(
      ({ node }) =>
        node.cri.programs.otherwise(() => {
          kept.push(Buffer.alloc(1 << 20, 'kept'));
          for (const began = process.cpuUsage(); process.cpuUsage(began).user < 60_000;);
          return {};
        }),
      { cpuMs: 50, slackBytes: 1 << 19, caseBytes: 0 },
    );
    assert.ok(kept.length >= cases);
    assertFound(found, /^it took \d+ ms of the processor$/, /^\d+ KiB of memory are left of 4 cases$/);
  });

  test('a case that goes another way when it is played again', async () => {
    let began: number | undefined;
    const found = await findings(({ node: { cri, clock } }) =>
      cri.programs.otherwise(({ container }) => {
        if (container !== 'c') return {};
        began ??= clock.monotonic();
        return clock.monotonic() - began < 3_000 ? failsToStart('not yet') : {};
      }),
    );
    assertFound(found, /^played again, it went differently: /);
  });

  test('a case is the same whenever it is asked for', () => {
    for (let number = 0; number < 50; number++)
      assert.equal(transcriptOf(makeCase(7, number)), transcriptOf(makeCase(7, number)));
  });
});
