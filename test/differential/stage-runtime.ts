import type { Clock } from '../../src/base/clock.ts';
import type { FakeCri } from '../../src/testing/fake-cri/index.ts';
import type { GoldenRecord } from '../../src/testing/golden.ts';
import type { MemoryFiles } from '../../src/testing/memory-files.ts';
import type { Script } from './programs.ts';

/** How long things took about where the records were made; ends and answers come from the script. */
const sandboxMs = 300;
const createMs = 40;
const startMs = 80;

interface Stage {
  readonly clock: Clock;
  readonly cri: FakeCri;
  readonly files: MemoryFiles;
  readonly record: GoldenRecord;
  readonly script: Script;
}

/** Makes the fake runtime do what the recorded one did. */
export function stageRuntime({ clock, cri, files, record, script }: Stage): void {
  // The recorded runtime is too old to tell of handlers and features.
  cri.health.name = 'containerd';
  cri.health.recursiveReadOnlyMounts = false;
  cri.health.supplementalGroupsPolicy = false;
  cri.images.add('busybox:1.36', { id: `sha256:${'d'.repeat(64)}` });
  cri.faults.delay('runPodSandbox', sandboxMs);
  cri.faults.delay('createContainer', createMs);
  cri.faults.delay('startContainer', startMs);
  for (const { verb, request, error } of record.cri) {
    if (error === undefined) continue;
    if (verb === 'CreateContainer') cri.faults.fail('createContainer', 'internal', { message: error.message });
    if (verb === 'PullImage') scriptPull(cri, request['image'] as { readonly image: string }, error.message);
  }
  cri.programs.otherwise(({ container, attempt }) => {
    const { behaviour, terminationMessage } = script.program(container, attempt);
    if (terminationMessage === undefined) return behaviour;
    const config = cri.containerNamed(container)?.config;
    const mount = config?.mounts.find(({ containerPath }) => containerPath === '/dev/termination-log');
    const usesLog = config?.annotations['io.kubernetes.container.terminationMessagePolicy'] !== 'File';
    if (usesLog) return { ...behaviour, output: [{ stream: 'stdout', text: terminationMessage.trimEnd() }] };
    if (mount !== undefined) files.append(mount.hostPath, terminationMessage);
    return behaviour;
  });
  cri.execs.on((command, { config, startedAt }) =>
    script.command(config.metadata?.name ?? '', command, clock.now() - Number(startedAt / 1_000_000n)),
  );
}

/** The fake puts its own beginning before the words of a failed pull. */
function scriptPull(cri: FakeCri, { image }: { readonly image: string }, words: string): void {
  const message = words.replace(`failed to pull and unpack image "${image}": `, '');
  cri.images.scriptPulls(image, { failure: { kind: 'internal', message } });
}
