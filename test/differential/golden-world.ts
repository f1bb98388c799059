import { readFileSync } from 'node:fs';
import { Heartbeats } from '../../src/base/heartbeats.ts';
import type { PodStatus, Quantity } from '../../src/gen/kubernetes/types.ts';
import { ComponentRunner } from '../../src/main/component-runner.ts';
import { createSignals } from '../../src/main/agent/signals.ts';
import type { AdmissionNode } from '../../src/model/admission-node.ts';
import { noDecisions } from '../../src/testing/no-decisions.ts';
import type { PodSource } from '../../src/model/desired-pod.ts';
import type { PodEvent } from '../../src/model/object-event.ts';
import type { StandaloneObject } from '../../src/model/standalone-object.ts';
import { parseLogLine } from '../../src/pods/logs/cri-log-line.ts';
import { anAdmissionNode } from '../../src/testing/admission-node.ts';
import { createFakeCri, type FakeCri } from '../../src/testing/fake-cri/index.ts';
import { FakeClock } from '../../src/testing/fake-clock.ts';
import {
  goldenHostDns,
  goldenLookup,
  goldenNode,
  goldenSettings,
  type GoldenRecord,
} from '../../src/testing/golden.ts';
import { MemoryFiles } from '../../src/testing/memory-files.ts';
import { memoryMountPrograms, memoryVolumeHost } from '../../src/testing/memory-volume-host.ts';
import { MemoryLog } from '../../src/testing/memory-log.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { wholeCgroups } from '../../src/testing/whole-cgroups.ts';
import { createPodWorld, type PodWorld } from '../support/pod-world.ts';
import { goldenProber } from './golden-prober.ts';
import { scriptOf } from './programs.ts';
import { stageRuntime } from './stage-runtime.ts';

/** The node of the recording with the real wiring inside, on virtual time, a scripted runtime and a disk in memory. */
export class GoldenWorld {
  readonly clock = new FakeClock();
  readonly files = new MemoryFiles();
  readonly log = new MemoryLog();
  readonly events: PodEvent[] = [];
  readonly statuses: PodStatus[] = [];
  readonly cri: FakeCri;
  readonly machine: PodWorld;
  onStatus: (status: PodStatus) => void = () => {};
  readonly #runner: ComponentRunner;

  constructor(record: GoldenRecord, source: PodSource, nodeName: string) {
    const { clock, files, log } = this;
    const script = scriptOf(record);
    this.cri = createFakeCri({ clock, logs: files });
    stageRuntime({ clock, cri: this.cri, files, record, script });
    void files.makeFolder('/etc/apt', 0o755);
    files.append('/etc/hosts', '127.0.0.1\tlocalhost\n');
    this.machine = createPodWorld({
      signals: createSignals(log),
      heartbeats: new Heartbeats(),
      clock,
      random: seededRandom(1),
      log,
      cri: this.cri,
      files,
      volumeHost: memoryVolumeHost(files),
      mountPrograms: memoryMountPrograms(files),
      tokens: { get: async () => ({ value: 'token', expiresAtMs: Infinity }), refreshInMs: () => undefined },
      terminationMessages: { readEnd: (path) => files.readText(path), readLogTail: (path) => this.#logOf(path) },
      cgroups: wholeCgroups,
      decisions: noDecisions,
      events: { record: (_, event) => void this.events.push(event) },
      settings: { ...goldenSettings, nodeName },
      node: goldenNode(),
      admissionNode: () => recordedNode(nodeName),
      hostIps: () => ['{{hostIP}}'],
      hostDns: async () => goldenHostDns,
      runtimeName: () => 'containerd',
      sources: [source],
      resyncMs: 60_000,
      prober: goldenProber({ clock, cri: this.cri, script }),
      services: () => goldenLookup(recordedServiceIp(record)).services(),
      onStatus: (_, status) => {
        this.statuses.push(status);
        this.onStatus(status);
      },
    });
    this.machine.setObjects(goldenObjects());
    this.#runner = new ComponentRunner({ clock, log, stopMs: 10_000 });
  }

  async start(): Promise<void> {
    await this.#runner.start(this.machine.components, new AbortController().signal);
  }

  async stop(): Promise<void> {
    const stopped = this.#runner.stop();
    await this.clock.advance(0);
    await stopped;
  }

  async #logOf(path: string): Promise<string> {
    const lines = (await this.files.readText(path)).split('\n').filter((line) => line !== '');
    return lines.map((line) => `${parseLogLine(Buffer.from(line))?.content.toString()}\n`).join('');
  }
}

/** The objects that the recorded pods refer to. */
function goldenObjects(): readonly StandaloneObject[] {
  const lookup = goldenLookup();
  const at = { namespace: '{{namespace}}', path: '/golden', line: 1 };
  const binaryData = { bin: Buffer.from([0, 1, 2]).toString('base64') };
  return [
    { ...at, kind: 'ConfigMap', name: 'cm', object: { ...lookup.configMap('', 'cm'), binaryData } },
    { ...at, kind: 'ConfigMap', name: 'kube-root-ca.crt', object: { data: { 'ca.crt': 'an authority' } } },
    { ...at, kind: 'Secret', name: 'sec', object: { ...lookup.secret('', 'sec') } },
  ];
}

interface NodeObject {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly status: {
    readonly allocatable: Readonly<Record<string, Quantity>>;
    readonly nodeInfo: { readonly architecture: string; readonly kernelVersion: string };
  };
}

/** The node of the recording, as admission sees it. */
function recordedNode(name: string): AdmissionNode {
  const { metadata, status } = JSON.parse(readFileSync('test/golden/node/node.json', 'utf8')) as NodeObject;
  return anAdmissionNode({
    name,
    labels: metadata.labels,
    allocatable: status.allocatable,
    arch: status.nodeInfo.architecture,
    kernelVersion: status.nodeInfo.kernelVersion,
    appArmor: { enabled: false, reason: 'AppArmor is not enabled on the host' },
    supplementalGroupsPolicySupported: false,
  });
}

/** The records of static pods carry the real address of the service. */
function recordedServiceIp(record: GoldenRecord): string | undefined {
  const create = record.cri.find(({ verb }) => verb === 'CreateContainer')?.request.config;
  const envs = (create?.['envs'] ?? []) as readonly { readonly key: string; readonly value: string }[];
  return envs.find(({ key }) => key === 'WEB_SVC_SERVICE_HOST')?.value;
}
