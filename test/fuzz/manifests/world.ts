import type { PodUid } from '../../../src/base/ids.ts';
import { apiResources } from '../../../src/model/api-resources.ts';
import type { DesiredPod } from '../../../src/model/desired-pod.ts';
import type { FakeApiServer } from '../../../src/testing/fake-api-server/index.ts';
import type { MemoryLog } from '../../../src/testing/memory-log.ts';
import { nodeName } from '../../support/agent-settings.ts';
import { WholeAgent } from '../../support/whole-agent.ts';
import { file, type ManifestFile, type WorldKind } from './case.ts';
import { FuzzFolder } from './folder.ts';
import { fuzzedHost, type WorldRecord } from './fuzzed-host.ts';

const goodPod = (name: string, uid: string, volumes: string): string => `apiVersion: v1
kind: Pod
metadata: {name: ${name}, namespace: default${uid === '' ? '' : `, uid: ${uid}`}}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: localhost/test/busybox:1
    livenessProbe: {exec: {command: ["true"]}, periodSeconds: 5}
    volumeMounts: [{name: v, mountPath: /v}]
  volumes: [{name: v, ${volumes}}]
`;
const goodFiles: readonly ManifestFile[] = [
  file('good.yaml', goodPod('good', 'uid-good', 'emptyDir: {}')),
  file('more.yaml', goodPod('more', '', 'downwardAPI: {items: [{path: name, fieldRef: {fieldPath: metadata.name}}]}')),
];
export const checkFile = (number: number): ManifestFile =>
  file('check.yaml', goodPod(`check-${number}`, '', 'emptyDir: {}'));
export const checkName = (number: number): string => `check-${number}-${nodeName}`;
const goodApiPod = 'good-api';

/** One of the pods that are there all the time, as the runtime has it. */
export interface GoodPod {
  readonly name: string;
  readonly isReady: boolean;
  readonly sandboxes: readonly string[];
  readonly containers: readonly string[];
}

/** A node on fakes and virtual time: the whole agent, a manifest folder, in a cluster an API server. */
export class ManifestWorld {
  readonly kind: WorldKind;
  readonly folder = new FuzzFolder();
  readonly record: WorldRecord = { touches: [] };
  readonly agent: WholeAgent;
  readonly #goodUids = new Map<string, string>();

  constructor(kind: WorldKind) {
    this.kind = kind;
    this.agent = new WholeAgent({
      cluster: kind === 'cluster',
      flags: ['--max-pods=1000'],
      overrides: (machine) => ({ host: fuzzedHost(machine, this.folder, this.record) }),
    });
    Object.assign(this.agent.machine.capacity, { cpu: '1000', memory: '8000Gi', 'ephemeral-storage': '100Ti' });
  }

  /** What is below the agent. */
  get node(): WholeAgent['machine'] {
    return this.agent.machine;
  }

  get log(): MemoryLog {
    return this.agent.log;
  }

  /** The API server, where there is one. */
  get api(): FakeApiServer | undefined {
    return this.node.api;
  }

  async start(): Promise<void> {
    const { agent, node, folder } = this;
    node.files.append('/etc/hosts', '127.0.0.1 localhost\n');
    folder.put(goodFiles);
    await agent.start();
    if (this.api !== undefined) agent.bind(goodApiPod);
    await node.clock.runUntil(() => this.desired().length === this.goodNames().length, 10_000);
    for (const { name, uid } of this.desired()) this.#goodUids.set(name, uid);
    await node.clock.runUntil(() => this.good().every(({ isReady }) => isReady), 60_000);
  }

  async stop(): Promise<void> {
    await this.agent.stop();
  }

  desired(): readonly DesiredPod[] {
    return this.agent.views.stores.desired.all();
  }

  isReady(uid: PodUid): boolean {
    const conditions = this.agent.views.stores.statuses.get(uid)?.conditions ?? [];
    return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  }

  isGood({ name, uid }: { readonly name: string; readonly uid: string }): boolean {
    return this.#goodUids.get(name) === uid;
  }

  goodNames(): readonly string[] {
    return [`good-${nodeName}`, `more-${nodeName}`, ...(this.kind === 'cluster' ? [goodApiPod] : [])];
  }

  /** By names and uids in the runtime: what takes only one of the two is another pod. */
  good(): readonly GoodPod[] {
    const { state } = this.node.cri;
    return this.goodNames().map((name) => {
      const uid = this.#goodUids.get(name);
      const labelled = (labels: Readonly<Record<string, string>>): boolean =>
        labels['io.kubernetes.pod.name'] === name && labels['io.kubernetes.pod.uid'] === uid;
      const pod = this.desired().find((one) => one.uid === uid && one.name === name);
      return {
        name,
        isReady: pod !== undefined && this.isReady(pod.uid),
        sandboxes: [...state.sandboxes.values()]
          .filter(({ config }) => labelled(config.labels))
          .map(({ id, state: at }) => `${id} ${at}`),
        containers: [...state.containers.values()]
          .filter(({ config }) => labelled(config.labels))
          .map(({ id, state: at }) => `${id} ${at}`),
      };
    });
  }

  /** What there is of pods other than the good ones. */
  async left(): Promise<readonly string[]> {
    const { cri, files } = this.node;
    const { statuses } = this.agent.views.stores;
    const desired = this.desired();
    const uids = new Set<string>(desired.filter((pod) => this.isGood(pod)).map(({ uid }) => uid));
    const ofOthers = (labels: Readonly<Record<string, string>>): boolean =>
      !uids.has(labels['io.kubernetes.pod.uid'] ?? '');
    const folders = await files.list('/var/lib/kubelet/pods');
    const left = [
      ...desired.filter((pod) => !this.isGood(pod)).map(({ fullName }) => `pod ${fullName}`),
      ...[...cri.state.sandboxes.values()]
        .filter(({ config }) => ofOthers(config.labels))
        .map(({ name }) => `sandbox ${name}`),
      ...[...cri.state.containers.values()]
        .filter(({ config }) => ofOthers(config.labels))
        .map(({ name }) => `container ${name}`),
      ...folders.filter((uid) => !uids.has(uid)).map((uid) => `folder ${uid}`),
      ...[...statuses.all()].filter(([uid]) => !uids.has(uid)).map(([uid]) => `status ${uid}`),
    ];
    return left;
  }

  /** Fakes remember everything; a run forgets it after each case. */
  tidy(): void {
    const { node, api, record } = this;
    node.log.clear();
    node.cri.engine.calls.length = 0;
    node.usage.asked.length = 0;
    node.usage.measured.length = 0;
    record.touches.length = 0;
    this.folder.asked.clear();
    if (api === undefined) return;
    api.forgetRequests();
    for (const { metadata } of api.objects.all(apiResources.events))
      api.objects.wipe(apiResources.events, {
        namespace: metadata?.namespace ?? 'default',
        name: metadata?.name ?? '',
      });
  }
}
