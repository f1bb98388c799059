import { rename } from 'node:fs/promises';
import { hostCertificateFiles } from '../../apiserver/identity/index.ts';
import { unixChannels } from '../../grpc/index.ts';
import {
  atomicWrite,
  deviceCheckpoint,
  ForeignStorage,
  HostBlockDevices,
  hostFiles,
  mountPrograms,
  nodeFiles,
  nodeHost,
  nodeHttp,
  nodeLogFiles,
  openCgroups,
  outwardAddresses,
  pluginRunner,
  providerFiles,
  readHostDns,
  readKernelFacts,
  readMachineInfo,
  readProgramStart,
  recordFiles,
  registryFiles,
  setupMachine,
  shutdownFiles,
  volumeHostOn,
} from '../../host/index.ts';
import { loadImageProviders } from '../../images/index.ts';
import type { CommonPorts } from '../../model/common-ports.ts';
import { readLogTail } from '../../pods/logs/index.ts';
import { createProber } from '../../pods/probes/index.ts';
import { nodeHookRequests } from '../../pods/runtime/index.ts';
import { hasSelinux, hasSwapController } from './kernel-features.ts';
import type { Host, HostWanted, Platform } from './platform.ts';
import { authorityFiles, servedFiles } from './server-files.ts';
import { providerSettings } from './settings/image-settings.ts';
import { statsHost } from './stats-host.ts';
import { systemdHost } from './systemd-host.ts';
import { userNamespacePolicy } from './user-namespaces.ts';

/** Only root may read checkpoints. */
const checkpointMode = 0o600;

/** The machine this process runs on. */
export async function openRealHost(
  { env: environment }: Pick<Platform, 'env'>,
  ports: CommonPorts,
  { settings, storageAnswers, cri }: HostWanted,
): Promise<Host> {
  const { clock, random, log } = ports;
  const { rootDir, machineIdFile: machineIdFiles, bootIdFile } = settings.flags;
  const machine = readMachineInfo();
  const version = machine.cgroupVersion;
  const storage = new ForeignStorage({ ...ports, rootDir, onAnswer: () => storageAnswers.broadcast() });
  const cgroups = openCgroups({ version, clock });
  const { places, options } = providerSettings(settings);
  const systemd = systemdHost(ports, environment);
  return {
    components: systemd === undefined ? [storage] : [storage, systemd.component],
    machine,
    kernel: {
      ...readKernelFacts(),
      hasSwapController: hasSwapController(version),
      hasSelinux: hasSelinux(),
    },
    programStart: readProgramStart(clock),
    outwardAddresses,
    setup: { ...setupMachine, processes: cgroups.processes },
    loadImageProviders: () => loadImageProviders(places, providerFiles, options),
    checkpoints: {
      read: (path) => hostFiles.readText(path),
      replace: (path, text) => atomicWrite(path, text, { mode: checkpointMode, random }),
      putAside: (path) => rename(path, `${path}.damaged`),
    },
    formerDevices: deviceCheckpoint(rootDir),
    node: nodeHost({ machine, rootDir, machineIdFiles, bootIdFile }),
    pods: {
      files: hostFiles,
      terminationMessages: {
        readEnd: (path, bytes) => hostFiles.readEnd(path, bytes),
        readLogTail: async (path, limits) => (await readLogTail(path, limits, nodeLogFiles)).toString('utf8'),
      },
      logFiles: nodeLogFiles,
      hookRequests: nodeHookRequests,
      prober: createProber({ clock, runtime: cri }),
      dns: () => readHostDns(settings.config.resolvConf),
      userNamespaces: userNamespacePolicy(settings, { log, random }),
    },
    sources: { files: nodeFiles, http: nodeHttp },
    volumes: {
      host: volumeHostOn(storage),
      programs: mountPrograms({ environment, clock }),
      files: hostFiles,
      devices: new HostBlockDevices(),
    },
    images: { files: recordFiles(random), pluginRunner: pluginRunner({ clock, environment }) },
    plugins: { files: registryFiles, open: unixChannels(clock) },
    cgroups,
    systemd,
    shutdown: shutdownFiles,
    stats: await statsHost({ clock, settings, machine, storage }),
    server: {
      files: servedFiles(storage, environment),
      authorities: authorityFiles,
      certificates: hostCertificateFiles(random),
    },
  };
}
