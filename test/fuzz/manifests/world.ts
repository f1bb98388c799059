import { ComponentRunner } from '../../../src/main/component-runner.ts';
import { FileSource } from '../../../src/pods/sources/index.ts';
import { Registry } from '../../../src/telemetry/index.ts';
import type { MemoryLog } from '../../../src/testing/memory-log.ts';
import { apiResources } from '../../../src/model/api-resources.ts';
import { defaultPodRules } from '../../../src/model/validation/index.ts';
import { AgentWorld } from '../../support/agent-world.ts';
import { ClusterWorld, nodeName } from '../../support/old-cluster-world.ts';
import { file, type ManifestFile, type WorldKind } from './case.ts';
import { FuzzFolder, manifestFolder } from './folder.ts';
import { fakeWiring, type WorldRecord } from './world-wiring.ts';

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

/** A node on fakes and virtual time: the pod machine as it is wired, a manifest folder, in a cluster an API server. */
export class ManifestWorld {
  readonly kind: WorldKind;
  readonly folder = new FuzzFolder();
  readonly record: WorldRecord = { touches: [] };
  readonly metrics = new Registry();
  readonly node: AgentWorld;
  readonly cluster: ClusterWorld | undefined;
  readonly #life = new AbortController();
  readonly #runner: ComponentRunner;
  readonly #goodUids = new Map<string, string>();

  constructor(kind: WorldKind) {
    this.kind = kind;
    const wiring = fakeWiring(this.record, this.metrics);
    if (kind === 'cluster') {
      this.cluster = new ClusterWorld({ machine: wiring });
      this.node = this.cluster.node;
    } else this.node = new AgentWorld({ machine: wiring });
    this.#runner = new ComponentRunner({ clock: this.node.clock, log: this.node.log, stopMs: 10_000 });
  }

  get log(): MemoryLog {
    return this.node.log;
  }

  async start(): Promise<void> {
    const { node, cluster, folder } = this;
    node.files.append('/etc/hosts', '127.0.0.1 localhost\n');
    folder.put(goodFiles);
    if (cluster === undefined) await node.startSilent();
    else await cluster.start();
    const source = new FileSource({
      preventApiReferences: true,
      rules: defaultPodRules,
      clock: node.clock,
      log: node.log,
      files: folder,
      path: manifestFolder,
      nodeName,
      fileCheckFrequencyMs: 20_000,
      allowFolderObjects: cluster === undefined,
      onObjects: (objects) => node.machine.setObjects(objects),
      onSet: (from, pods) => node.machine.set(from, pods),
    });
    await this.#runner.start([source], this.#life.signal);
    cluster?.bind(goodApiPod);
    await node.clock.advance(0);
    for (const { name, uid } of node.machine.desired.all()) this.#goodUids.set(name, uid);
    await node.clock.runUntil(() => this.good().every(({ isReady }) => isReady), 60_000);
  }

  async stop(): Promise<void> {
    this.#life.abort();
    const stopped = this.#runner.stop();
    await this.node.clock.advance(0);
    await stopped;
    await (this.cluster ?? this.node).stop();
  }

  isGood({ name, uid }: { readonly name: string; readonly uid: string }): boolean {
    return this.#goodUids.get(name) === uid;
  }

  goodNames(): readonly string[] {
    return [`good-${nodeName}`, `more-${nodeName}`, ...(this.cluster ? [goodApiPod] : [])];
  }

  /** By names and uids in the runtime: what takes only one of the two is another pod. */
  good(): readonly GoodPod[] {
    const { state } = this.node.cri;
    return this.goodNames().map((name) => {
      const uid = this.#goodUids.get(name);
      const labelled = (labels: Readonly<Record<string, string>>): boolean =>
        labels['io.kubernetes.pod.name'] === name && labels['io.kubernetes.pod.uid'] === uid;
      const pod = this.node.machine.desired.all().find((one) => one.uid === uid && one.name === name);
      return {
        name,
        isReady: pod !== undefined && this.node.isReady(pod.uid),
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
    const { machine, cri, files } = this.node;
    const desired = machine.desired.all();
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
      ...[...machine.statuses.all()].filter(([uid]) => !uids.has(uid)).map(([uid]) => `status ${uid}`),
    ];
    return left;
  }

  /** Fakes remember everything; a run forgets it after each case. */
  tidy(): void {
    const { node, cluster, record } = this;
    node.log.clear();
    node.events.length = 0;
    node.gone.length = 0;
    node.removedCgroups.length = 0;
    node.statusHistory.clear();
    node.cri.engine.calls.length = 0;
    record.touches.length = 0;
    this.folder.asked.clear();
    if (cluster === undefined) return;
    cluster.woken.length = 0;
    cluster.api.forgetRequests();
    for (const { metadata } of cluster.api.objects.all(apiResources.events))
      cluster.api.objects.wipe(apiResources.events, {
        namespace: metadata?.namespace ?? 'default',
        name: metadata?.name ?? '',
      });
  }
}
