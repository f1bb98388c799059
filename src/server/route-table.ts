import type { Handler, ListenerName, Method, RouteSpec } from './route.ts';

const reading: readonly Method[] = ['GET', 'HEAD'];
const streaming: readonly Method[] = ['GET', 'POST'];
const open: readonly ListenerName[] = ['secure', 'readOnly', 'socket'];
const closed: readonly ListenerName[] = ['secure'];

const pageMs = 60_000;
const page = { methods: reading, bodyBytes: 0, limitMs: pageMs, streams: 'no' } as const;
const proxy = { subresource: 'proxy' } as const;
/** A caller with the right to read must not be able to run anything, whatever method carries it. */
const running = { subresource: 'proxy', alsoVerb: 'create' } as const;
const session = {
  methods: streaming,
  listeners: closed,
  right: running,
  switches: ['debugging'],
  bodyBytes: 0,
  limitMs: undefined,
  streams: 'upgrade',
} as const;
const command = {
  methods: ['POST'],
  listeners: closed,
  right: running,
  switches: ['debugging'],
  bodyBytes: 64 * 1024,
  limitMs: undefined,
  streams: 'no',
} as const;
const health = { ...page, listeners: open, right: { subresource: 'healthz', fine: true } } as const;
const metrics = { ...page, listeners: open, right: { subresource: 'metrics' } } as const;
const profile = {
  ...page,
  listeners: closed,
  right: proxy,
  switches: ['debugging', 'profiling'],
  limitMs: 10 * 60_000,
  streams: 'response',
} as const;
const logFiles = {
  ...page,
  listeners: closed,
  right: { subresource: 'log' },
  switches: ['debugging', 'systemLogs'],
  limitMs: undefined,
  streams: 'response',
} as const;

const record = { ...page, listeners: closed, right: proxy, switches: ['debugging'] } as const;

/** Every path that the agent answers over HTTP. */
export const routeTable = {
  healthz: { ...health, path: '/healthz', listeners: ['secure', 'readOnly', 'socket', 'healthz'] },
  healthzPing: { ...health, path: '/healthz/ping', listeners: ['secure', 'readOnly', 'socket', 'healthz'] },
  healthzLog: { ...health, path: '/healthz/log' },
  healthzSyncloop: { ...health, path: '/healthz/syncloop' },
  healthzDevicePlugin: { ...health, path: '/healthz/device-plugin' },

  pods: { ...page, path: '/pods', listeners: open, right: { subresource: 'pods', fine: true } },
  runningPods: {
    ...page,
    path: '/runningpods',
    listeners: closed,
    right: { subresource: 'pods', fine: true },
    switches: ['debugging'],
  },
  spec: { ...page, path: '/spec', listeners: closed, right: { subresource: 'spec', fine: true } },
  statsSummary: {
    ...page,
    path: '/stats/summary',
    methods: ['GET', 'HEAD', 'POST'],
    listeners: open,
    right: { subresource: 'stats' },
    bodyBytes: 64 * 1024,
  },

  metrics: { ...metrics, path: '/metrics' },
  metricsCadvisor: { ...metrics, path: '/metrics/cadvisor', streams: 'response' },
  metricsResource: { ...metrics, path: '/metrics/resource' },
  metricsProbes: { ...metrics, path: '/metrics/probes' },
  metricsSlis: { ...metrics, path: '/metrics/slis', methods: ['GET', 'HEAD', 'DELETE'] },

  exec: { ...session, path: '/exec/{namespace}/{pod}/{container}' },
  execUid: { ...session, path: '/exec/{namespace}/{pod}/{uid}/{container}' },
  attach: { ...session, path: '/attach/{namespace}/{pod}/{container}' },
  attachUid: { ...session, path: '/attach/{namespace}/{pod}/{uid}/{container}' },
  portForward: { ...session, path: '/portForward/{namespace}/{pod}' },
  portForwardUid: { ...session, path: '/portForward/{namespace}/{pod}/{uid}' },
  run: { ...command, path: '/run/{namespace}/{pod}/{container}' },
  runUid: { ...command, path: '/run/{namespace}/{pod}/{uid}/{container}' },
  checkpoint: {
    ...command,
    path: '/checkpoint/{namespace}/{pod}/{container}',
    right: { subresource: 'checkpoint', alsoVerb: 'create' },
    switches: ['debugging', 'checkpoint'],
  },

  containerLogs: {
    ...page,
    path: '/containerLogs/{namespace}/{pod}/{container}',
    listeners: closed,
    right: proxy,
    switches: ['debugging'],
    limitMs: undefined,
    streams: 'response',
  },
  nodeLogs: { ...logFiles, path: '/logs' },
  nodeLogFiles: { ...logFiles, path: '/logs/{file...}' },

  configz: {
    ...page,
    path: '/configz',
    listeners: closed,
    right: { subresource: 'configz', fine: true },
    switches: ['debugging'],
  },
  statusz: {
    ...page,
    path: '/statusz',
    listeners: closed,
    right: { subresource: 'statusz' },
    switches: ['debugging', 'statusz'],
  },
  flagz: {
    ...page,
    path: '/flagz',
    listeners: closed,
    right: { subresource: 'configz' },
    switches: ['debugging', 'flagz'],
  },
  debugPod: { ...record, path: '/debug/pods/{uid}' },
  debugNode: { ...record, path: '/debug/node' },
  profileIndex: { ...profile, path: '/debug/pprof' },
  profile: { ...profile, path: '/debug/pprof/{name}' },
  // Everything in memory, Secrets included. Only POST, because the API server passes a GET of every user who may `get`
  // nodes/proxy on in its own name, which may do everything.
  heapSnapshot: {
    ...profile,
    path: '/debug/pprof/heapsnapshot',
    methods: ['POST'],
    right: running,
    bodyBytes: 1024,
  },
  verbosity: {
    path: '/debug/flags/v',
    methods: ['PUT'],
    listeners: closed,
    right: proxy,
    switches: ['debugging', 'debugFlags'],
    bodyBytes: 1024,
    limitMs: pageMs,
    streams: 'no',
  },
} as const satisfies Record<string, RouteSpec>;

export type RouteId = keyof typeof routeTable;

/** What answers each route; the compiler sees to it that none is forgotten. */
export type Handlers = Readonly<Record<RouteId, Handler>>;
