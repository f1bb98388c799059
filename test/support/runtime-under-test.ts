import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { containerd2 } from '../../src/testing/runtimes/containerd-2.ts';
import { crio } from '../../src/testing/runtimes/cri-o.ts';
import { debianContainerd } from '../../src/up/containerd-software.ts';
import type { RuntimeSetup, RuntimeSoftware } from '../../src/up/runtime-software.ts';

/** The runtimes that real tests can run on. */
const softwares = {
  'containerd-1.6': () => debianContainerd,
  'containerd-2.4': () =>
    containerd2({
      containerd: programPath('containerd'),
      shim: programPath('containerd-shim-runc-v2'),
      ctr: programPath('ctr'),
      runc: programPath('runc'),
    }),
  'cri-o': () =>
    crio({
      crio: programPath('crio'),
      pinns: programPath('pinns'),
      conmon: programPath('conmon'),
      skopeo: programPath('skopeo'),
      runc: programPath('runc'),
    }),
} as const satisfies Readonly<Record<string, () => RuntimeSoftware>>;

export type RuntimeName = keyof typeof softwares;

export interface RuntimeUnderTest {
  readonly name: RuntimeName;
  readonly software: RuntimeSoftware;
  readonly cgroupDriver: RuntimeSetup['cgroupDriver'];
}

/** As TUBELET_TEST_RUNTIME and TUBELET_TEST_CGROUP_DRIVER say: Debian's containerd with cgroupfs unless they are set. */
export function runtimeUnderTest(): RuntimeUnderTest {
  const name = oneOf('TUBELET_TEST_RUNTIME', Object.keys(softwares)) as RuntimeName;
  const cgroupDriver = oneOf('TUBELET_TEST_CGROUP_DRIVER', ['cgroupfs', 'systemd']);
  return { name, software: softwares[name](), cgroupDriver: cgroupDriver as RuntimeUnderTest['cgroupDriver'] };
}

/** A runtime whatever the environment says. */
export const runtimeNamed = (name: RuntimeName): RuntimeSoftware => softwares[name]();

/** The first one where the variable is not set. */
function oneOf(variable: string, values: readonly string[]): string {
  const value = process.env[variable] || values[0];
  if (value === undefined || !values.includes(value)) {
    throw new Error(`${variable} is ${value}, and can be ${values.join(', ')}`);
  }
  return value;
}

/** Programs that were compiled for tests, before those of the machine: tools/lib/runtime-programs.mjs. */
function programPath(name: string): string {
  const folders = [...(process.env['TUBELET_RUNTIME_PROGRAMS'] ?? '').split(delimiter), '/usr/bin', '/usr/sbin'];
  const found = folders
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
  if (found === undefined) throw new Error(`${name} is not there; npm run runtimes compiles it`);
  return found;
}
