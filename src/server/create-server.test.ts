import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Component } from '../base/component.ts';
import { silentLog } from '../base/log.ts';
import { commonPorts } from '../testing/common-ports.ts';
import { systemClock } from '../base/system-clock.ts';
import { podObject } from '../model/desired-pod.ts';
import type { MachineFacts } from '../model/usage.ts';
import { Registry } from '../telemetry/index.ts';
import { askHttp } from '../testing/http-ask.ts';
import { aPod } from '../testing/pods.ts';
import { aRequest, readAnswer } from '../testing/route-requests.ts';
import { ServerWorld } from '../testing/server-world.ts';
import {
  createBootServer,
  createServer,
  createServerAccess,
  defaultLimits,
  PlainListener,
  SecureListener,
  type BootServer,
  type ServerAccessSettings,
  type ServerPorts,
  type ServerSettings,
  type SocketFiles,
  type UsagePages,
} from './index.ts';
import { noAllocations } from './podresources/index.ts';
import type { RouteId } from './route-table.ts';
import { routeTable } from './route-table.ts';

const anyPort = { address: '127.0.0.1', port: 0 };
const settings: ServerSettings = {
  healthz: anyPort,
  readOnly: anyPort,
  socketPath: undefined,
  secure: { ...anyPort, tls: { minVersion: '', cipherSuites: [] } },
  switches: {
    debugging: true,
    systemLogs: true,
    profiling: true,
    debugFlags: true,
    checkpoint: true,
    statusz: true,
    flagz: true,
  },
  access: { fineGrained: true, upstreamVerbs: false },
  limits: defaultLimits,
  streamIdleMs: 1_000,
  self: { kubeletconfig: {}, flags: [], version: 'v1', nodeVersion: 'v20', argv: [], syncPeriodMs: 60_000 },
  isStandalone: true,
  rootDir: '/nowhere',
  podLogsDir: '/nowhere',
  nodeLogQuery: true,
  splitStreams: true,
  cpuFrequencyKhz: undefined,
  podResourcesGet: true,
};

const unasked = async (): Promise<never> => assert.fail('nothing here should ask for that');
const sockets: SocketFiles = {
  makeFolder: unasked,
  removeSocket: unasked,
  removeFile: unasked,
  setMode: unasked,
};

function usage(text: string): UsagePages {
  return {
    // oxlint-disable-next-line require-yield
    async *cadvisor() {
      yield text;
    },
    resource: async () => text,
  };
}

function world(change: { readonly sockets?: SocketFiles | undefined } = {}) {
  const log = { ...silentLog, problem: () => undefined, setVerbosity: () => {} };
  const [agent, probes, slis] = [new Registry(), new Registry(), new Registry()];
  const common = commonPorts({ clock: systemClock(), log, metrics: agent });
  const registries = { agent, probes, slis };
  const boot = createBootServer(settings, {
    ...common,
    logControl: log,
    registries,
    usagePages: usage('# none\n'),
    debug: { pod: () => ({}), node: () => ({}) },
    sockets,
    ...change,
  });
  return { common, boot };
}

const machine: MachineFacts = {
  machineId: 'm',
  systemUuid: 's',
  bootId: 'b',
  kernelVersion: '6',
  osImage: 'os',
  cores: 2,
  physicalCores: 2,
  sockets: 1,
  memoryBytes: 1,
  swapBytes: 0,
};
const pod = aPod({ name: 'web', namespace: 'shop' });

function wholeAgent({ common, boot }: ReturnType<typeof world>, secured?: ServerPorts['secured']): ServerPorts {
  return {
    ...common,
    boot: boot.parts,
    secured,
    pods: { pods: () => [podObject(pod)], seen: () => [], stuck: () => [], activePods: () => [pod] },
    desired: { named: (fullName) => (fullName === pod.fullName ? [pod] : []) },
    statuses: { get: () => undefined },
    observed: { newerThan: unasked, inspect: unasked },
    runtime: {
      exec: unasked,
      attach: unasked,
      portForward: unasked,
      execSync: unasked,
      checkpointContainer: unasked,
      containerStatus: unasked,
    },
    stats: { machine: () => machine, summary: async () => ({ node: { nodeName: 'node-1' } as never, pods: [] }) },
    usagePages: usage('# some\n'),
    health: { lastSyncRound: () => undefined, devicePluginProblem: () => 'no device answers' },
    allocations: noAllocations,
    files: {
      containerLogs: { resolve: unasked, open: unasked, stat: unasked, list: unasked, watch: () => assert.fail() },
      nodeLogs: { open: unasked },
      journal: { run: unasked },
      checkpoints: { makeFolder: unasked },
    },
    sockets,
  };
}

/** The port of a listener that has been started, closed again at the end of the test. */
async function open(context: TestContext, boot: BootServer, name: string): Promise<number> {
  const listener = boot.components.find((component) => component.name === name);
  assert.ok(listener instanceof PlainListener);
  await listener.start();
  context.after(() => listener.stop());
  return listener.port;
}

async function startRoutes(components: readonly Component[]): Promise<void> {
  const [routes] = components;
  assert.equal(routes?.name, 'http-routes');
  await routes.start(new AbortController().signal);
}

test('health listens first, then the read-only port', () => {
  const names = world().boot.components.map(({ name }) => name);
  assert.deepEqual(names, ['http-healthz', 'http-readOnly']);
});

test('before the runtime has answered: how the agent is, no pods, and a failure for the rest', async (context) => {
  const { boot } = world();
  const health = await open(context, boot, 'http-healthz');
  const port = await open(context, boot, 'http-readOnly');
  assert.deepEqual(pick(await askHttp(health, '/healthz')), [200, 'ok']);
  assert.deepEqual(pick(await askHttp(port, '/healthz')), [200, 'ok']);
  const { body } = await askHttp(port, '/pods');
  assert.deepEqual((JSON.parse(body) as { items: unknown[] }).items, []);
  assert.deepEqual(pick(await askHttp(port, '/metrics/cadvisor')), [200, '# none\n']);
  assert.deepEqual(pick(await askHttp(port, '/metrics/resource')), [200, '# none\n']);
  assert.equal((await askHttp(port, '/metrics')).status, 200);
  assert.deepEqual(pick(await askHttp(port, '/stats/summary')), [500, 'Internal Server Error\n']);
});

/** Routes that need nothing but the process, on whichever port. */
const atBoot: readonly RouteId[] = [
  'debugPod',
  'debugNode',
  'healthz',
  'healthzPing',
  'healthzLog',
  'healthzSyncloop',
  'healthzDevicePlugin',
  'pods',
  'metrics',
  'metricsCadvisor',
  'metricsResource',
  'metricsProbes',
  'metricsSlis',
  'configz',
  'statusz',
  'flagz',
  'profileIndex',
];

test('which routes answer at boot, and what the others wait for', async () => {
  const { boot } = world();
  const known = new Set<string>(atBoot);
  for (const { spec, handler } of boot.parts.served.routes) {
    const [id] = Object.entries(routeTable).find(([, route]) => route === spec) ?? [''];
    // They read, or change, this process.
    if (['profile', 'heapSnapshot', 'verbosity'].includes(id)) continue;
    const answer = handler(aRequest({ headers: { accept: 'text/plain' } }));
    if (known.has(id)) assert.equal((await readAnswer(await answer)).status, 200, id);
    else
      await assert.rejects(answer, { kind: 'unavailable', message: 'the agent waits for the container runtime' }, id);
  }
});

test('the same ports show the whole agent once its turn has come', async (context) => {
  const small = world();
  const port = await open(context, small.boot, 'http-readOnly');
  const { components } = createServer(settings, wholeAgent(small));
  assert.deepEqual(pick(await askHttp(port, '/metrics/resource')), [200, '# none\n'], 'not before');
  await startRoutes(components);
  const { body } = await askHttp(port, '/pods');
  assert.equal((JSON.parse(body) as { items: [{ metadata: { name: string } }] }).items[0].metadata.name, 'web');
  assert.deepEqual(pick(await askHttp(port, '/metrics/resource')), [200, '# some\n']);
  assert.equal((await askHttp(port, '/stats/summary')).status, 200);
  const refused = await askHttp(port, '/healthz/device-plugin');
  assert.deepEqual(pick(refused), [500, 'internal server error: reason withheld\n']);
});

const accessSettings: ServerAccessSettings = {
  nodeName: 'node-1',
  authentication: { clientCAFile: '', webhookEnabled: false, cacheTtlMs: 0, anonymous: true, userIds: false },
  authorization: { mode: 'AlwaysAllow', authorizedTtlMs: 0, unauthorizedTtlMs: 0 },
};

test('on a machine without sockets no port is opened, and the rest is there', async () => {
  const small = world({ sockets: undefined });
  assert.deepEqual(small.boot.components, []);
  const files = { readText: unasked, stampOf: unasked };
  const access = createServerAccess(accessSettings, { ...small.common, files, reviews: undefined });
  const serving = {
    name: 'serving',
    start: unasked,
    stop: unasked,
    current: () => undefined,
    onChange: () => () => {},
  };
  const secured = { access, serving };
  const { components } = createServer(settings, { ...wholeAgent(small, secured), sockets: undefined });
  assert.deepEqual(
    components.map(({ name }) => name),
    ['http-routes'],
  );
  const caller = await small.boot.parts.access.authenticator.authenticate({}, new AbortController().signal);
  assert.equal(caller?.name, 'system:anonymous');
  const families = small.common.metrics.families().map(({ name }) => name);
  assert.ok(families.includes('kubelet_pod_resources_endpoint_requests_total'));
});

test('the secured port asks who decides, and starts behind its certificate', async () => {
  const small = world();
  const files = { readText: unasked, stampOf: unasked };
  const access = createServerAccess(accessSettings, { ...small.common, files, reviews: undefined });
  const { identity } = await ServerWorld.open({ routes: [], listeners: [] });
  const serving = {
    name: 'serving-certificate',
    start: async () => {},
    stop: async () => {},
    current: () => identity.current(),
    onChange: (listener: () => void) => identity.onChange(listener),
  };
  const starting = small.boot.parts.access.authenticator.authenticate({}, new AbortController().signal);
  await assert.rejects(starting, /the agent is starting/);
  const { components } = createServer(settings, wholeAgent(small, { access, serving }));
  assert.deepEqual(
    components.map(({ name }) => name),
    ['http-routes', 'serving-certificate', 'http-secure', 'pod-resources'],
  );
  assert.ok(components[2] instanceof SecureListener);
  const caller = await small.boot.parts.access.authenticator.authenticate({}, new AbortController().signal);
  assert.equal(caller?.name, 'system:anonymous');
});

test('without a secured port there is no more than the routes and the socket of the node', () => {
  const small = world();
  const names = createServer(settings, wholeAgent(small)).components.map(({ name }) => name);
  assert.deepEqual(names, ['http-routes', 'pod-resources']);
});

test('settings that let in no caller are refused when they are read', () => {
  const { common } = world();
  const closed = { ...accessSettings, authentication: { ...accessSettings.authentication, anonymous: false } };
  const files = { readText: unasked, stampOf: unasked };
  assert.throws(() => createServerAccess(closed, { ...common, files, reviews: undefined }), { kind: 'invalid' });
});

function pick({ status, body }: { readonly status: number; readonly body: string }): readonly [number, string] {
  return [status, body];
}
