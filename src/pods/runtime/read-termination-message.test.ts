import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import { ContainerState, ContainerStatus } from '../../gen/cri/api.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { readTerminationMessage } from './read-termination-message.ts';

interface Case {
  readonly state?: ContainerState;
  readonly exitCode?: number;
  readonly policy?: string;
  readonly file?: string | TubeletError;
  readonly tail?: string;
  readonly message?: string;
}

async function message(given: Case): Promise<readonly [string, number]> {
  const log = new MemoryLog();
  const status = ContainerStatus.fromPartial({
    id: 'c',
    state: given.state ?? ContainerState.CONTAINER_EXITED,
    exitCode: given.exitCode ?? 1,
    reason: 'Error',
    message: given.message ?? '',
    logPath: '/logs/0.log',
    annotations: {
      'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
      'io.kubernetes.container.terminationMessagePolicy': given.policy ?? 'File',
    },
    mounts: [{ containerPath: '/dev/termination-log', hostPath: '/host/message' }],
  });
  const files = {
    async readEnd(path: string) {
      assert.equal(path, '/host/message');
      if (given.file instanceof TubeletError) throw given.file;
      return given.file ?? '';
    },
    readLogTail: async () => given.tail ?? 'the log',
  };
  return [await readTerminationMessage({ files, log }, status), log.entries.length];
}

test('what the container wrote', async () => {
  assert.deepEqual(await message({ file: 'bye' }), ['bye', 0]);
  assert.deepEqual(await message({ file: 'bye', policy: 'FallbackToLogsOnError' }), ['bye', 0]);
});

test('the log, where the policy says so and nothing was written', async () => {
  assert.deepEqual(await message({ policy: 'FallbackToLogsOnError' }), ['the log', 0]);
  assert.deepEqual(await message({ policy: 'FallbackToLogsOnError', exitCode: 0 }), ['', 0]);
  assert.deepEqual(await message({}), ['', 0]);
});

test('a missing file is no message, one that cannot be read is logged', async () => {
  assert.deepEqual(await message({ file: new TubeletError('notFound', 'gone'), message: 'runtime' }), ['runtime', 0]);
  assert.deepEqual(await message({ file: new TubeletError('denied', 'no') }), ['', 1]);
});

test('a container that runs has no termination message', async () => {
  assert.deepEqual(await message({ state: ContainerState.CONTAINER_RUNNING, file: 'x' }), ['', 0]);
});
