import { containerdConfig } from './containerd-config.ts';
import type { InstanceNames } from './names.ts';
import { programs } from './programs.ts';
import type { ImageArchive, RuntimeSetup, RuntimeSoftware } from './runtime-software.ts';
import type { RunCommand } from './ports.ts';

/** The one that the Debian package brings. */
export const debianContainerd: RuntimeSoftware = {
  name: 'containerd',
  program: programs.containerd,
  args: (names) => ['--config', names.containerdConfig],
  files: (names, setup) => [{ path: names.containerdConfig, text: containerdConfig(names, setup) }],
  importImage: (...args) => importWithCtr(programs.ctr, ...args),
};

export async function importWithCtr(
  ctr: string,
  archive: ImageArchive,
  names: InstanceNames,
  setup: RuntimeSetup,
  run: RunCommand,
  signal?: AbortSignal,
): Promise<void> {
  const args = ['--address', names.socket, '--namespace', 'k8s.io', 'images', 'import'];
  await run(ctr, [...args, '--snapshotter', setup.snapshotter, archive.path], signal === undefined ? {} : { signal });
}
