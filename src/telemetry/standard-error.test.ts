import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../base/system-clock.ts';
import { createLog } from './create-log.ts';

const limitMs = 20_000;
const isChild = process.env['TUBELET_TEST_CHATTER'] !== undefined;
const script = fileURLToPath(import.meta.url);

/** Logs more than any pipe holds, then answers on standard output that its loop still turns. */
function chatter(): void {
  const log = createLog({ format: 'text', clock: systemClock() });
  for (let n = 0; n < 200; n++) log.error(new Error('x'.repeat(20_000)), 'line', { n });
  process.stdout.write('turns\n');
  process.stdin.once('data', () => process.exit(7));
}

/** With a shell's pipe standard error is a FIFO, with Node's a socket. */
const ways = {
  socket: { program: process.execPath, args: [script] },
  FIFO: {
    program: '/bin/sh',
    args: ['-c', 'exec 3>&1; { "$0" "$1" 2>&1 >&3; echo "ended $?" >&3; } | sleep 3600', process.execPath, script],
  },
};

if (isChild) chatter();
else {
  for (const [kind, { program, args }] of Object.entries(ways)) {
    test(`a reader of standard error that never reads holds up neither the loop nor the exit: a ${kind}`, async () => {
      const env = { ...process.env, TUBELET_TEST_CHATTER: '1' };
      const child = spawn(program, args, { stdio: 'pipe', detached: true, env });
      child.stderr.pause();
      const ended = once(child, 'exit');
      const group = -(child.pid ?? 0);
      const tooLate = systemClock().after(limitMs, () => process.kill(group, 'SIGKILL'));
      try {
        const lines = child.stdout.setEncoding('utf8')[Symbol.asyncIterator]();
        assert.equal((await lines.next()).value, 'turns\n');
        child.stdin.write('end\n');
        if (kind === 'socket') assert.deepEqual(await ended, [7, null]);
        else assert.equal((await lines.next()).value, 'ended 7\n');
      } finally {
        tooLate();
        child.stderr.destroy();
        if (child.exitCode === null && child.signalCode === null) process.kill(group, 'SIGKILL');
      }
    });
  }
}
