import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { cpuToPprof, type V8CpuProfile } from '../../../src/server/profiling/cpu-profile.ts';
import { encodePprof } from '../../../src/server/profiling/pprof.ts';
import { programPath } from './programs.ts';

const frame = (functionName: string, lineNumber = -1) => ({ functionName, url: 'file:///opt/tubelet.mjs', lineNumber });

/** main works half of the time and waits in the other half. */
const cpu: V8CpuProfile = {
  startTime: 1_000_000,
  endTime: 1_080_000,
  nodes: [
    { id: 1, callFrame: frame('(root)'), children: [2, 3] },
    { id: 2, callFrame: frame('main', 9), children: [4] },
    { id: 3, callFrame: frame('(idle)') },
    { id: 4, callFrame: frame('work', 19) },
  ],
  samples: [4, 3, 4, 4, 3, 2, 3, 3],
  timeDeltas: [0, 10_000, 10_000, 10_000, 10_000, 10_000, 10_000, 10_000],
};

test("Go's own tool reads a profile of this process", () => {
  const folder = mkdtempSync(join(tmpdir(), 'tubelet-pprof-'));
  try {
    const file = join(folder, 'profile');
    writeFileSync(file, gzipSync(encodePprof(cpuToPprof(cpu, 1_000_000, 10_000), 'tubelet')));
    const { status, stdout, stderr } = spawnSync(programPath('pprof'), ['-top', '-unit=ms', file], {
      encoding: 'utf8',
      env: { ...process.env, PPROF_TMPDIR: folder },
    });
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^File: tubelet$/m);
    assert.match(stdout, /^Type: cpu$/m);
    assert.match(stdout, /% +work$/m);
    assert.match(stdout, /% +main$/m);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
