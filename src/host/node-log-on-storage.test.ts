import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TubeletError } from '../base/errors.ts';
import type { HostNodeLog } from './log-files.ts';
import { nodeLogsOn } from './node-log-on-storage.ts';

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function aLog(read: HostNodeLog['read']): HostNodeLog {
  return { kind: 'file', modifiedMs: 1, size: 2, read, close: async () => undefined };
}

test('nothing is opened on a file system that does not answer', async () => {
  const refused = new TubeletError('unavailable', '/l/x: does not answer');
  const open = nodeLogsOn({ probe: () => Promise.reject(refused) }, () => assert.fail('opened'));
  await assert.rejects(open('/l/x', ['/l']), refused);
});

test('clients of a foreign file system that stops answering keep few threads, others all they want', async () => {
  for (const [isForeign, expected] of [
    [true, 2],
    [false, 20],
  ] as const) {
    let reading = 0;
    const hangs = (): Promise<number> => {
      reading++;
      return new Promise(() => undefined);
    };
    const open = nodeLogsOn({ probe: async () => isForeign }, async () => aLog(hangs));
    const log = await open('/l/x', ['/l']);
    assert.ok(log.kind === 'file');
    for (let client = 0; client < 20; client++) void log.read(Buffer.alloc(1), 0, 1);
    await turn();
    assert.equal(reading, expected);
  }
});
