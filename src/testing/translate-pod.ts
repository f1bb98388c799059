import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, PodSpec } from '../gen/kubernetes/types.ts';
import { desiredPod } from '../model/desired-pod.ts';
import { defaultPod } from '../model/pod-defaults.ts';
import { isRefusal } from '../model/refusal.ts';
import type { NodeFacts, RuntimeSettings } from '../model/runtime-settings.ts';
import { asRecorded } from './golden-messages.ts';
import { goldenHostDns, goldenLookup, goldenSettings } from './golden.ts';
import { computeContainerConfig } from '../pods/runtime/compute-container-config.ts';
import { computeContainerEnv } from '../pods/runtime/compute-container-env.ts';
import { computeSandboxConfig } from '../pods/runtime/compute-sandbox-config.ts';

/** Pods as people write them, and what has to reach the runtime of each, worked out by hand from the API's rules. */
export const gib = 1024 ** 3;
const node: NodeFacts = {
  memoryCapacityBytes: BigInt(8 * gib),
  swapCapacityBytes: BigInt(2 * gib),
  allocatable: { cpu: '3900m', memory: '7Gi', 'ephemeral-storage': '10Gi' },
  hugePageSizes: ['2MB', '1GB'],
  thermalThrottlePaths: [],
};

interface Made {
  readonly sandbox: Record<string, unknown>;
  readonly container: Record<string, unknown> | string;
}

export interface Given {
  readonly main?: Partial<Container>;
  readonly spec?: Partial<PodSpec>;
  /** The container that is asked for; default: `main`. */
  readonly which?: string;
  readonly settings?: Partial<RuntimeSettings>;
}

export function translate({ main = {}, spec = {}, which = 'main', settings = {} }: Given): Made {
  const metadata = { uid: 'u1', name: 'p', namespace: '{{namespace}}', labels: { app: 'a' } };
  const filled = defaultPod({ metadata, spec: { containers: [{ name: 'main', image: 'i:1', ...main }], ...spec } });
  const pod = desiredPod('api', filled);
  const all = { ...goldenSettings, ...settings };
  const sandbox = computeSandboxConfig({ pod, attempt: 0, settings: all, hostDns: goldenHostDns });
  const entries = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
  const container = entries.find(({ name }) => name === which);
  assert.ok(container);
  const shared = { pod, container, podIps: ['10.0.0.1'], hostIps: ['192.0.2.1'], node };
  const env = computeContainerEnv({ ...shared, nodeName: 'node', lookup: goldenLookup() });
  if (isRefusal(env)) return { sandbox: asRecorded(sandbox), container: env.refusal.message };
  const config = computeContainerConfig({
    ...shared,
    kind: 'regular',
    restartCount: 0,
    image: { ref: 'sha256:1', user: {} },
    volumes: new Map([['v', { hostPath: '/host/v' }]]),
    env,
    files: {},
    settings: all,
  });
  return {
    sandbox: asRecorded(sandbox),
    container: isRefusal(config) ? config.refusal.message : asRecorded(config),
  };
}

/** A part of a message by its path; a variable or an annotation by its name. */
function part(message: unknown, path: string): unknown {
  const [, annotation] = path.split('annotation ');
  if (annotation !== undefined) return (part(message, 'annotations') as Record<string, unknown>)[annotation];
  if (path.startsWith('env ')) {
    const envs = (part(message, 'envs') ?? []) as readonly { readonly key: string; readonly value?: string }[];
    const found = envs.find(({ key }) => key === path.slice(4));
    return found === undefined ? undefined : (found.value ?? '');
  }
  if (path === '') return message;
  return path.split('.').reduce<unknown>((at, field) => (at as Record<string, unknown> | undefined)?.[field], message);
}

type Row = readonly [name: string, given: Given, expected: Readonly<Record<string, unknown>>];

/** One test per row: the parts of the request that the row names. */
export function check(rows: readonly Row[], side: 'sandbox' | 'container'): void {
  for (const [name, given, expected] of rows) {
    void test(name, () => {
      const message = translate(given)[side];
      for (const [path, value] of Object.entries(expected)) assert.deepEqual(part(message, path), value, path);
    });
  }
}

/** Where the amounts and the rights stand in both kinds of requests. */
export const inResources = (path: string): string => `linux.resources.${path}`;
export const inSecurity = (path: string): string => `linux.securityContext.${path}`;

/** A pod whose container asks for these amounts. */
export const amounts = (requests?: Record<string, string>, limits?: Record<string, string>): Given => ({
  main: { resources: { ...(requests && { requests }), ...(limits && { limits }) } },
});
