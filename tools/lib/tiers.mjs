// The tiers of the test suite, in the order they run: cheap and telling first. `probe` answers why a tier cannot run on
// this machine (or nothing when it can), and does the set-up the tier needs.
import { installDebianPackages, missingForRuntime } from './debian.mjs';

/** @typedef {{name: string, matches: (path: string) => boolean, needsBuild: boolean, concurrency: number,
 *   timeoutMs: number, probe: () => string | undefined}} Tier */

/** @type {readonly Tier[]} */
export const tiers = [
  {
    name: 'unit',
    matches: (path) => path.startsWith('src/') && !path.endsWith('.property.test.ts'),
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
    name: 'containerd',
    matches: (path) => path.startsWith('test/real/'),
    needsBuild: true,
    // One at a time: the machine has one set of cgroups and iptables rules, and the runtime tests are heavy.
    concurrency: 1,
    timeoutMs: 300_000,
    probe: () => {
      if (process.platform !== 'linux') return `needs Linux, this is ${process.platform}`;
      if (process.getuid?.() !== 0) return 'needs root';
      return missingForRuntime().length === 0 ? undefined : installDebianPackages();
    },
  },
];
