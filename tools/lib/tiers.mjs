// The tiers of the test suite, in the order they run: cheap and telling first. `probe` answers why a tier cannot run on
// this machine (or nothing when it can), and does the set-up the tier needs.
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { controlPlanePrograms } from './control-plane-programs.mjs';
import { installDebianPackages } from './debian.mjs';
import { machineDisk } from './machine-v2/disk.mjs';
import { prometheusPrograms } from './prometheus-programs.mjs';
import { runtimePrograms } from './runtime-programs.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** @typedef {{name: string, matches: (path: string) => boolean, needsBuild: boolean, concurrency: number,
 *   timeoutMs: number, variants?: Readonly<Record<string, Readonly<Record<string, string>>>>, inside?: Inside,
 *   onlyByName?: boolean, probe: () => string | undefined}} Tier `variants`: the tier runs once for each, with these
 *   variables; `onlyByName`: it runs only where --tier names it
 *  @typedef {{driver: string, matches: (path: string) => boolean}} Inside test files that one of the tier's runs elsewhere */

/** @type {readonly Tier[]} */
export const tiers = [
  {
    name: 'unit',
    matches: (path) => /^(src|test\/tools)\//.test(path) && !path.endsWith('.property.test.ts'),
    needsBuild: false,
    concurrency: 2,
    timeoutMs: 60_000,
    probe: () => undefined,
  },
  {
    name: 'property',
    matches: (path) => path.startsWith('src/') && path.endsWith('.property.test.ts'),
    needsBuild: false,
    concurrency: 2,
    timeoutMs: 120_000,
    probe: () => undefined,
  },
  {
    name: 'scenarios',
    matches: (path) => path.startsWith('test/scenarios/'),
    needsBuild: false,
    concurrency: 2,
    timeoutMs: 120_000,
    probe: () => undefined,
  },
  {
    name: 'differential',
    matches: (path) => path.startsWith('test/differential/'),
    needsBuild: false,
    concurrency: 2,
    timeoutMs: 120_000,
    probe: () => undefined,
  },
  {
    name: 'simulation',
    matches: (path) => path.startsWith('test/simulation/'),
    needsBuild: false,
    concurrency: 2,
    timeoutMs: 600_000,
    probe: () => undefined,
  },
  {
    name: 'limits',
    matches: (path) => path.startsWith('test/limits/'),
    needsBuild: true,
    // One at a time: what an attack does to one agent is told from figures of the whole machine.
    concurrency: 1,
    timeoutMs: 600_000,
    probe: realMachine,
  },
  {
    name: 'containerd',
    matches: (path) => path.startsWith('test/real/') && !path.startsWith('test/real/control-plane/'),
    needsBuild: true,
    // One at a time: the machine has one set of cgroups and iptables rules, and the runtime tests are heavy.
    concurrency: 1,
    timeoutMs: 300_000,
    probe: realMachine,
  },
  {
    name: 'runtimes',
    matches: (path) => runtimeTests.some((start) => path.startsWith(`test/real/${start}`)),
    needsBuild: true,
    concurrency: 1,
    timeoutMs: 600_000,
    variants: {
      'containerd 2.4': { TUBELET_TEST_RUNTIME: 'containerd-2.4' },
      'CRI-O 1.34': { TUBELET_TEST_RUNTIME: 'cri-o' },
    },
    probe: () => realMachine() ?? prepareRuntimes(),
  },
  {
    name: 'control-plane',
    matches: (path) => path.startsWith('test/real/control-plane/'),
    needsBuild: true,
    // Each file has a cluster, a runtime and a bridge of its own, and mostly waits.
    concurrency: 2,
    timeoutMs: 900_000,
    probe: () => realMachine() ?? prepareControlPlane() ?? prepareRuntimes(),
  },
  {
    name: 'machine-v2',
    matches: (path) => /^test\/machine-v2\/[^/]+$/.test(path),
    needsBuild: true,
    // One at a time: a machine takes a processor of the host.
    concurrency: 1,
    timeoutMs: 1_200_000,
    probe: prepareMachine,
    inside: {
      driver: 'test/machine-v2/inside.test.ts',
      matches: (path) => path.startsWith('test/machine-v2/inside/') && !path.endsWith('/cgroup-record.test.ts'),
    },
  },
  {
    name: 'machine-v2-stories',
    matches: (path) => path === 'test/machine-v2/inside.test.ts',
    needsBuild: true,
    concurrency: 1,
    timeoutMs: 7_200_000,
    variants: {
      'systemd driver': { TUBELET_TEST_CGROUP_DRIVER: 'systemd' },
      'cgroupfs driver': { TUBELET_TEST_CGROUP_DRIVER: 'cgroupfs' },
    },
    probe: prepareMachine,
    // Half an hour for what the sample of the tier before is taken from.
    onlyByName: true,
    inside: {
      driver: 'test/machine-v2/inside.test.ts',
      matches: (path) =>
        path.startsWith('test/real/stories-') || path === 'test/machine-v2/inside/cgroup-record.test.ts',
    },
  },
];

/** What is tested of a runtime; the tier containerd has the same on Debian's. */
const runtimeTests = ['cri-conformance', 'runtime-features', 'stories-'];

function realMachine() {
  if (process.platform !== 'linux') return `needs Linux, this is ${process.platform}`;
  if (process.getuid?.() !== 0) return 'needs root';
  preparePrometheus();
  return installDebianPackages();
}

/** Only a few tests ask for it; without it they alone are left out. */
function preparePrometheus() {
  const programs = prometheusPrograms();
  if ('why' in programs) process.env.TUBELET_NO_PROMETHEUS = programs.why;
  else process.env.TUBELET_PROMETHEUS_PROGRAMS = programs.folder;
}

function prepareRuntimes() {
  const programs = runtimePrograms();
  if ('why' in programs) return programs.why;
  process.env.TUBELET_RUNTIME_PROGRAMS = Object.values(programs.folders).join(delimiter);
  return undefined;
}

/** Test processes inherit the place of the programs. */
function prepareControlPlane() {
  const programs = controlPlanePrograms(root);
  if ('why' in programs) return programs.why;
  process.env.TUBELET_CONTROL_PLANE_PROGRAMS = programs.folder;
  return undefined;
}

/** The Go kubelet is one of the control plane's programs; the tests that compare with it alone say why it is not there. */
function prepareMachine() {
  prepareControlPlane();
  const disk = machineDisk(root);
  return 'why' in disk ? disk.why : undefined;
}
