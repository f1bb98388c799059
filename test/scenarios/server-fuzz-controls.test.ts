import assert from 'node:assert/strict';
import { open, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { systemClock } from '../../src/base/system-clock.ts';
import type { FuzzCase } from '../fuzz/case.ts';
import { fuzz, type FuzzLimits, type FuzzReport } from '../fuzz/fuzz.ts';
import { wellBehaved } from '../fuzz/health.ts';
import type { Sabotage } from '../fuzz/world.ts';

// A run that finds nothing is worth as much as what it would have found: here the server is broken on purpose.

const cases = 12;
/** What is broken is so for good: nobody needs to wait for long. */
const impatient: Partial<FuzzLimits> = { settleMs: 200, healthyMs: 250, turnMs: 150, slackBytes: 8 << 20 };

/** Some requests as anybody should send them, to a page that something happens to. */
function run(sabotage: Sabotage, limits: Partial<FuzzLimits> = impatient): Promise<FuzzReport> {
  const make = (): FuzzCase => wellBehaved('readOnly', '/stats/summary');
  return fuzz({ seed: 1, cases, atOnce: 2, make, limits, sabotage });
}

function assertFound({ findings }: FuzzReport, ...wanted: readonly RegExp[]): void {
  const told = findings.map(({ problem }) => problem);
  for (const one of wanted)
    assert.ok(
      told.some((problem) => one.test(problem)),
      `${String(one)} is not among ${told.join('\n')}`,
    );
}

describe('a fuzz run finds', { timeout: 110_000 }, () => {
  test('nothing where nothing is wrong', async () => {
    const { findings, statuses } = await run(async () => {}, {});
    assert.deepEqual(findings, []);
    assert.deepEqual([...statuses], [['200', cases]]);
  });

  test('a handler that throws', async () => {
    const report = await run(async () => {
      throw new Error('broken');
    });
    assertFound(
      report,
      /^an undocumented 500: "Internal Server Error\\n"$/,
      /^an undocumented error: E.* "Request failed"/,
      /^\/stats\/summary of secure is not well any more: HTTP\/1\.1 500 /,
    );
  });

  test('a handler that is slow, and one that keeps everybody waiting', async () => {
    const clock = systemClock();
    let calls = 0;
    const keepEverybodyWaiting = (): void => {
      for (const began = process.cpuUsage(); process.cpuUsage(began).user < 200_000;);
    };
    const report = await run(async () => {
      if (++calls === cases / 2) keepEverybodyWaiting();
      await clock.sleep(300);
    });
    assertFound(
      report,
      /^everything stood still for \d+ ms$/,
      /^\/stats\/summary of secure (took \d+ ms|is not well any more)/,
    );
  });

  test('whatever is left behind', async (t) => {
    const kept: Buffer[] = [];
    const undo: (() => unknown)[] = [];
    t.after(async () => {
      for (const one of undo) await one();
    });
    const report = await run(async (world, folder) => {
      kept.push(Buffer.alloc(2 << 20, 'kept'));
      for (const port of [world.port('healthz'), world.runtime.port]) {
        const socket = connect(port, '127.0.0.1').on('error', () => {});
        undo.push(() => socket.destroy());
      }
      const file = await open(join(folder, 'ca.crt'));
      const listener = (): void => {};
      process.on('exit', listener);
      const cancelTimer = world.clock.after(2 ** 31, () => {});
      await writeFile(join(folder, `left-${kept.length}`), '');
      undo.push(
        () => file.close(),
        () => process.off('exit', listener),
        cancelTimer,
      );
    });
    assert.ok(kept.length >= cases);
    assertFound(
      report,
      /^\d+ KiB of memory are left of 9 cases$/,
      /^TCPSocketWrap: \d+ are left, before there were \d+$/,
      /^streams of the runtime: \d+ are left, before there were 0$/,
      /^open files: \d+ are left/,
      /^listeners on what lives long: \d+ are left/,
      /^timers of the agent: \d+ are left/,
      /^files on disk: \d+ are left/,
    );
  });
});
