import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noCalls } from '../../base/calls.ts';
import { silentLog } from '../../base/log.ts';
import { systemClock } from '../../base/system-clock.ts';
import { connectCri, type Cri } from '../../cri/index.ts';
import { commands, criConformance, type ProgramName } from '../cri-conformance/index.ts';
import { createFakeCri, exitAfter, failsToStart, fileLogs, ignoresTerm, says, serveFakeCri } from './index.ts';
import type { Behaviour, ExecOutcome, FakeCri } from './index.ts';

const clock = systemClock();
const image = 'localhost/conformance/busybox:1';

/** What the suite's programs do, in the words of the fake. */
const behaviours: Readonly<Record<ProgramName, Behaviour>> = {
  sleeper: ignoresTerm(),
  polite: says(['ready'], { onTerm: { afterMs: 5, code: 5 } }),
  stubborn: says(['ready'], ignoresTerm()),
  'exits-0': exitAfter(5, 0),
  'exits-3': exitAfter(5, 3),
  talker: {
    exit: { afterMs: 5, code: 0 },
    output: [
      { stream: 'stdout', text: 'one' },
      { stream: 'stderr', text: 'two' },
      { stream: 'stdout', text: 'three', partial: true },
    ],
  },
  'no-program': failsToStart('exec: "/no/such/program": stat /no/such/program: no such file or directory'),
};

const outcomes = new Map<string, ExecOutcome>([
  [commands.fails.join(' '), { exitCode: 7, stdout: 'out\n', stderr: 'err\n' }],
  [commands.lingers.join(' '), { takesMs: 30_000 }],
]);

function fakeForSuite(): FakeCri {
  const fake = createFakeCri({ clock, logs: fileLogs });
  fake.images.add(image);
  for (const [name, behaviour] of Object.entries(behaviours)) fake.programs.forContainer(name, behaviour);
  fake.execs.on((command) => outcomes.get(command.join(' ')));
  return fake;
}

const ends: (() => Promise<void> | void)[] = [];
async function tearDown(): Promise<void> {
  for (const end of ends.splice(0).toReversed()) await end();
}

async function subjectFor(make: (folder: string) => Promise<Cri> | Cri) {
  const folder = await mkdtemp(join(tmpdir(), 'fake-cri-'));
  ends.push(() => rm(folder, { recursive: true, force: true }));
  const cri = await make(folder);
  ends.push(() => cri.close());
  return { cri, clock, image, folder };
}

criConformance({ name: 'the fake runtime in process', setup: () => subjectFor(fakeForSuite), teardown: tearDown });

criConformance({
  name: 'the fake runtime behind its socket',
  setup: () =>
    subjectFor(async (folder) => {
      const served = await serveFakeCri(fakeForSuite(), join(folder, 'cri.sock'));
      ends.push(() => served.stop());
      return connectCri({
        calls: noCalls,
        endpoint: served.endpoint,
        clock,
        log: silentLog,
        timeouts: { requestMs: 120_000 },
      });
    }),
  teardown: tearDown,
});
