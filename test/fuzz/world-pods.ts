import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DesiredPod } from '../../src/model/desired-pod.ts';
import { staticPodName } from '../../src/model/static-pod.ts';
import type { FakeCri } from '../../src/testing/fake-cri/index.ts';
import { aContainer, aPod, testImage } from '../../src/testing/pods.ts';
import { nodeName } from '../support/agent-settings.ts';
import { allModes } from './hostile-runtime.ts';

export const fuzzImage = testImage;
export const fuzzNamespace = 'default';
/** Has a container for each way in which sessions can go. */
export const fuzzPod = staticPodName('web', nodeName);
export const fuzzUid = 'uid-web';
/** Of the ways that sessions of ports can go, one pod each. */
export const portModes = ['good', 'silent', 'hangs', 'dies', 'nonsense'] as const;
const execModes = ['runs', 'exits', 'fails', 'hangs'] as const;
/** The pod whose sessions of ports go that way. */
export const portPod = (mode: string): string => staticPodName(mode, nodeName);
/** Containers in which `/run` goes differently. */
export const runModes: readonly string[] = execModes.map((mode) => `run-${mode}`);
const logLines = 3_000;

export function fuzzPods(): readonly DesiredPod[] {
  const containers = [...allModes, ...runModes].map((mode) => aContainer(mode));
  return [
    aPod({ name: fuzzPod, uid: fuzzUid, spec: { containers } }),
    ...portModes.map((mode) => aPod({ name: portPod(mode), uid: `uid-${mode}` })),
  ];
}

/** What the runtime does when it is asked for sessions, and what becomes of commands. */
export function scriptRuntime(cri: FakeCri): void {
  const named =
    (name: string) =>
    (request: unknown): boolean => {
      const { containerId = '' } = request as { readonly containerId?: string };
      return cri.state.container(containerId).config.metadata?.name === name;
    };
  for (const verb of ['exec', 'attach'] as const) {
    cri.faults.fail(verb, 'exhausted', { when: named('exhausted'), message: 'too many sessions' });
    cri.faults.fail(verb, 'notFound', { when: named('missing'), message: 'no such container' });
    cri.faults.fail(verb, 'unavailable', { when: named('unavailable'), message: 'the runtime is away' });
    cri.faults.fail(verb, 'internal', { when: named('broken'), message: 'the runtime is broken' });
    cri.faults.hang(verb, { when: named('never') });
  }
  cri.faults.hang('checkpointContainer', { when: named('never') });
  cri.faults.fail('checkpointContainer', 'internal', { when: named('broken'), message: 'the runtime is broken' });
  cri.execs.forContainer('run-runs', { stdout: 'out\n'.repeat(20_000), stderr: 'err' });
  cri.execs.forContainer('run-exits', { exitCode: 3, stderr: 'it went wrong' });
  cri.execs.forContainer('run-fails', { failure: { kind: 'internal', message: 'cannot be run' } });
  cri.execs.forContainer('run-hangs', { hangs: true });
}

/** Logs on disk, in both forms runtimes write and in none; answers where that of each container is. */
export async function writeLogs(folder: string, cri: FakeCri): Promise<ReadonlyMap<string, string>> {
  await mkdir(folder, { recursive: true });
  const stamp = (n: number): string => new Date(Date.UTC(2025, 0, 1) + n * 1_000).toISOString().replace('Z', '000000Z');
  const numbers = Array.from({ length: logLines }, (_, n) => n);
  const texts: readonly string[] = [
    numbers.map((n) => `${stamp(n)} ${n % 3 === 0 ? 'stderr' : 'stdout'} F line number ${n}\n`).join(''),
    numbers.map((n) => `${JSON.stringify({ log: `line ${n}\n`, stream: 'stdout', time: stamp(n) })}\n`).join(''),
    'not a log at all\n\0\xff\n{"log":"half',
    `${stamp(1)} stdout P ${'long '.repeat(50_000)}`,
    '',
  ];
  const paths = new Map<string, string>();
  const containers = [...cri.state.containers.values()];
  for (const [at, { id }] of containers.entries()) {
    const path = join(folder, `${at}.log`);
    // One of them has no file.
    if (at % 7 !== 6) await writeFile(path, texts[at % texts.length] ?? '');
    paths.set(id, path);
  }
  return paths;
}
