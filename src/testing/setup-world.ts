import { createSetup, type SetupSettings } from '../setup/create-setup.ts';
import { prepareHost, type PrepareSettings } from '../setup/index.ts';
import { commonPorts } from './common-ports.ts';
import { FakeClock } from './fake-clock.ts';
import { MemoryFiles } from './memory-files.ts';
import { MemoryLog } from './memory-log.ts';
import { MemorySetupMachine } from './memory-setup-machine.ts';

const usual: PrepareSettings = {
  rootDir: '/k',
  podLogsDir: '/logs',
  maxOpenFiles: 1_000_000,
  failSwapOn: true,
  checkpoints: true,
  kernelRelease: '6.8.0',
  hasSelinux: false,
};
const usualSetup: SetupSettings = {
  oomScoreAdj: -999,
  hasOwnCgroup: false,
  tunables: 'change',
  systemCgroups: '',
  iptablesChains: false,
  expectsUserNamespace: false,
};

/** A machine in memory that can be set up, and what sets it up. */
export function aMachine() {
  const files = new MemoryFiles();
  const log = new MemoryLog();
  const clock = new FakeClock();
  const machine = new MemorySetupMachine(files);
  const prepare = (settings: Partial<PrepareSettings> = {}) => prepareHost(machine, { ...usual, ...settings }, log);
  const create = (settings: Partial<SetupSettings> = {}) =>
    createSetup({ ports: commonPorts({ log, clock }), settings: { ...usualSetup, ...settings }, machine });
  const { signal } = new AbortController();
  return { files, log, clock, machine, prepare, create, signal };
}
