import { getEventListeners } from 'node:events';
import { readdirSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Heartbeats } from '../../src/base/heartbeats.ts';
import { HttpApiClient } from '../../src/apiserver/index.ts';
import type { Component } from '../../src/base/component.ts';
import { describeError } from '../../src/base/errors.ts';
import type { Cri } from '../../src/cri/index.ts';
import { ComponentRunner } from '../../src/main/component-runner.ts';
import { servedFiles } from '../../src/main/agent/server-files.ts';
import { serverSettings } from '../../src/main/agent/settings/server-settings.ts';
import { noUsageYet, usagePages } from '../../src/main/agent/usage-pages.ts';
import { ForeignStorage, socketFiles } from '../../src/host/index.ts';
import { PodRemoval } from '../../src/model/pod-removal.ts';
import { ObservedPods } from '../../src/pods/pleg/index.ts';
import { FlightRecorder } from '../../src/recorder/index.ts';
import {
  createBootServer,
  createServer,
  defaultLimits,
  PlainListener,
  SecureListener,
  type ServerLimits,
} from '../../src/server/index.ts';
import { noAllocations } from '../../src/server/podresources/index.ts';
import type { ListenerName } from '../../src/server/route.ts';
import { createLog, Registry, type LogSink } from '../../src/telemetry/index.ts';
import { FakeApiServer } from '../../src/testing/fake-api-server/index.ts';
import type { FakeCri } from '../../src/testing/fake-cri/index.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { noCalls } from '../../src/base/calls.ts';
import { scrapedUsage } from '../../src/stats/index.ts';
import { StatsWorld } from '../../src/testing/stats-world.ts';
import { AgentWorld } from '../support/agent-world.ts';
import { fakeMachine } from '../support/fake-platform.ts';
import { allows, hireCallers, makeCertificates, type ClientCertificate } from './callers.ts';
import { HostileRuntime } from './hostile-runtime.ts';
import { QuickClock } from './quick-clock.ts';
import { securedPort } from './world-access.ts';
import { fuzzSettings } from './world-settings.ts';
import { fuzzPods, scriptRuntime, writeLogs } from './world-pods.ts';

/** Half a minute passes in a second and a half. */
const timeFactor = 20;
/** Of Node's own timers, in real time; what the agent's clock measures is twenty times shorter. */
const limits: ServerLimits = {
  ...defaultLimits,
  headersMs: 600,
  requestMs: 6_000,
  checkMs: 50,
  handshakeMs: 600,
  idleMs: 2_000,
  accessMs: 20_000,
  stallMs: 10_000,
};
const requestMs = 20_000;
const mostVerbosity = 10;

/** A journal that says much, or nothing, or never ends, by the unit it is asked for. */
const journal = `#!/bin/sh
case "$*" in
  *hang*) exec sleep 5 ;;
  *flood*) i=0; while [ $i -lt 4000 ]; do echo "line of the journal $i"; i=$((i+1)); done ;;
  *fail*) echo nothing >&2; exit 1 ;;
  *) echo "kubelet.service" ; echo "one line" ;;
esac
`;

/** Breaks the server on purpose: called for each `/stats/summary`, with a folder of the agent's. */
export type Sabotage = (world: FuzzWorld, folder: string) => Promise<void>;

/**
 * The agent's server as it is wired, on real sockets, and an API server for its reviews. Behind it is the whole agent on a
 * fake machine, which opens no ports itself: no setting makes the limits short that Node's own timers keep.
 */
export class FuzzWorld {
  readonly clock = new QuickClock(timeFactor);
  readonly runtime = new HostileRuntime();
  readonly certificates: ReadonlyMap<string, ClientCertificate>;
  readonly #ports = new Map<ListenerName, number>();
  readonly log: LogSink;
  readonly api: FakeApiServer;
  readonly #authority: string;
  readonly #fake: FakeCri;
  readonly #cri: Cri;
  readonly #node: AgentWorld;
  readonly #runner: ComponentRunner;
  readonly #life = new AbortController();
  readonly #sabotage: Sabotage | undefined;
  #folder = '';
  #registries = newPages();
  /** Told of every line of the log. */
  onLog: (text: string) => void = () => {};

  constructor(sabotage?: Sabotage) {
    const { clock } = this;
    this.#sabotage = sabotage;
    ({ authority: this.#authority, clients: this.certificates } = makeCertificates(clock.now()));
    this.log = createLog({ format: 'text', clock, verbosity: mostVerbosity, write: (text) => this.onLog(text) });
    this.api = new FakeApiServer({ clock, allows });
    hireCallers(this.api);
    const machine = fakeMachine({ runtime: { clock, timeouts: { requestMs } } });
    this.#fake = machine.cri;
    this.#cri = this.runtime.over(this.#fake);
    this.#node = new AgentWorld({ machine, overrides: () => ({ clock, log: this.log }) });
    this.#runner = new ComponentRunner({ clock, log: this.log, stopMs: 200_000 });
  }

  async start(): Promise<void> {
    this.#folder = await mkdtemp(join(tmpdir(), 'tubelet-fuzz-'));
    await writeFile(join(this.#folder, 'ca.crt'), this.#authority);
    await mkdir(join(this.#folder, 'bin'));
    await writeFile(join(this.#folder, 'bin/journalctl'), journal);
    await chmod(join(this.#folder, 'bin/journalctl'), 0o755);
    await this.runtime.start();
    await this.#node.manifests(...fuzzPods());
    await this.#node.start();
    while (!fuzzPods().every(({ uid }) => this.#node.isReady(uid))) await this.clock.sleep(100);
    scriptRuntime(this.#fake);
    const logs = await writeLogs(join(this.#folder, 'pods'), this.#fake);
    await this.#listen(logs);
    this.#node.statusHistory.clear();
  }

  /** The agent's own part ends, in order. */
  async stop(): Promise<void> {
    this.#life.abort();
    await this.#runner.stop();
    await this.#node.stop();
    await this.runtime.stop();
    this.log.flush();
    await rm(this.#folder, { recursive: true, force: true });
    this.#folder = '';
  }

  /** What the fakes remember of every call would look like a leak; a client may have turned the log down. */
  tidy(): void {
    const { log, usage, manifests } = this.#node.machine;
    for (const remembered of [this.#fake.engine.calls, log.entries, usage.asked, manifests.calls])
      remembered.length = 0;
    this.api.forgetRequests();
    this.log.setVerbosity(mostVerbosity);
  }

  /** Requests under way, on all ports that count them. */
  underWay(): number {
    const counts = [...this.#registries.agent.render().matchAll(/^kubelet_http_inflight_requests\{.*\} (\d+)$/gm)];
    return counts.reduce((sum, [, count]) => sum + Number(count), 0);
  }

  /** On what lives as long as the agent. */
  listeners(): number {
    return getEventListeners(this.#life.signal, 'abort').length;
  }

  /** The agent's own, and what it has written since. */
  filesOnDisk(): number {
    if (this.#folder === '') return 0;
    return readdirSync(this.#folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile()).length;
  }

  /** Two of the ports must be known before they are opened, and somebody may take one meanwhile. */
  async #listen(logs: ReadonlyMap<string, string>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#open(logs);
        return;
      } catch (error) {
        if (attempt === 5 || !describeError(error).includes('another program listens')) throw error;
        await this.#runner.stop();
      }
    }
  }

  async #open(logs: ReadonlyMap<string, string>): Promise<void> {
    const { clock, log } = this;
    const registries = newPages();
    this.#registries = registries;
    const cri: Cri = {
      ...this.#cri,
      containerStatus: async (request, options) => {
        const answer = await this.#cri.containerStatus(request, options);
        const logPath = logs.get(request.containerId) ?? '';
        return answer.status === undefined ? answer : { ...answer, status: { ...answer.status, logPath } };
      },
    };
    const client = new HttpApiClient({
      clock,
      log,
      transport: this.api,
      userAgent: 'kubelet/fuzz',
      credentials: { authorization: async () => undefined },
      limits: { normal: { qps: 0, burst: 1 }, events: { qps: 0, burst: 1 } },
    });
    const settings = await fuzzSettings(this.#folder);
    const env = { PATH: `${this.#folder}/bin:/bin:/usr/bin` };
    const decisions = new FlightRecorder({ clock, removal: new PodRemoval(log) });
    const random = seededRandom(1);
    const heartbeats = new Heartbeats();
    const common = { clock, log, random, heartbeats, metrics: registries.agent, decisions, calls: noCalls };
    const process = { env, version: 'v20.0.0', argv: ['tubelet'] };
    const served = { ...serverSettings(settings, process), limits };
    const ports = { ...common, sockets: socketFiles };
    const empty = usagePages(noUsageYet(log));
    const debug = { pod: (uid: string) => decisions.podPage(uid), node: () => decisions.nodePage() };
    const boot = createBootServer(served, { ...ports, registries, logControl: log, usagePages: empty, debug });
    const stats = new StatsWorld().stats({}, { clock, log, runtime: cri });
    const summary = stats.summary.bind(stats);
    stats.summary = async (...asked) => {
      await this.#sabotage?.(this, this.#folder);
      return summary(...asked);
    };
    const { pods, stores } = this.#node.views;
    const storage = new ForeignStorage({
      calls: noCalls,
      clock,
      log,
      rootDir: this.#folder,
      onAnswer: () => undefined,
    });
    const server = createServer(served, {
      ...ports,
      boot: boot.parts,
      secured: securedPort(settings, common, client),
      pods: {
        pods: () => pods.pods(),
        seen: () => pods.observed(),
        stuck: () => pods.stuck(),
        // None of them ends.
        activePods: () => stores.desired.all(),
      },
      desired: { named: (fullName) => stores.desired.all().filter((pod) => pod.fullName === fullName) },
      statuses: stores.statuses,
      observed: new ObservedPods({ runtime: cri }),
      runtime: cri,
      stats,
      usagePages: usagePages({
        usageForPage: (depth, signal) => scrapedUsage({ stats, log }, depth, signal),
        machine: () => stats.machine(),
      }),
      health: { lastSyncRound: () => pods.lastRelist(), devicePluginProblem: () => undefined },
      allocations: noAllocations,
      files: servedFiles(storage, env),
    });
    const components = [...boot.components, stats, ...server.components];
    await this.#runner.start(components, this.#life.signal);
    for (const component of components) this.#remember(component);
  }

  port(listener: ListenerName): number {
    const port = this.#ports.get(listener);
    if (port === undefined) throw new Error(`nobody listens for ${listener}`);
    return port;
  }

  #remember(component: Component): void {
    if (component instanceof SecureListener) this.#ports.set('secure', component.port);
    if (component instanceof PlainListener)
      this.#ports.set(component.name === 'http-healthz' ? 'healthz' : 'readOnly', component.port);
  }
}

function newPages(): { readonly agent: Registry; readonly probes: Registry; readonly slis: Registry } {
  return { agent: new Registry(), probes: new Registry(), slis: new Registry() };
}
