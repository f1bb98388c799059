import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultBackoffLimits } from '../../base/backoff.ts';
import { TubeletError } from '../../base/errors.ts';
import { ContainerConfig, NamespaceMode } from '../../gen/cri/api.ts';
import type { PodSpec } from '../../gen/kubernetes/types.ts';
import { noDecisions } from '../../testing/no-decisions.ts';
import { containerLabels } from '../../model/labels.ts';
import { Registry } from '../../telemetry/registry.ts';
import { createFakeCri } from '../../testing/fake-cri/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { goldenSettings } from '../../testing/golden.ts';
import { hooksOn } from '../../testing/hooks.ts';
import { MemoryEvents } from '../../testing/memory-events.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { observe } from '../../testing/observe.ts';
import { aPod, testImage } from '../../testing/pods.ts';
import { computeSandboxConfig } from './compute-sandbox-config.ts';
import { PodRuntime } from './pod-runtime.ts';
import { RestartBackoff } from './restart-backoff.ts';
import { StartErrors } from './start-errors.ts';

const hostDns = { servers: ['192.0.2.53'], searches: [], options: [] };
const block = { hostId: 131_072, length: 65_536 };
const mappings = [{ hostId: 131_072, containerId: 0, length: 65_536 }];

test('a sandbox has a user namespace whatever else its pod sets or leaves out', () => {
  const { securityContext: _, ...bare } = aPod({ spec: { hostUsers: false } }).spec;
  for (const spec of [bare, { ...bare, securityContext: {} }, { ...bare, securityContext: { fsGroup: 5 } }]) {
    const config = computeSandboxConfig({
      pod: { ...aPod(), spec },
      attempt: 0,
      settings: goldenSettings,
      hostDns,
      userNamespace: block,
    });
    assert.deepEqual(config.linux?.securityContext?.namespaceOptions?.usernsOptions, {
      mode: NamespaceMode.POD,
      uids: mappings,
      gids: mappings,
    });
  }
});

describe('the ids of a pod are asked for', () => {
  /** Syncs a pod once from nothing; answers who was asked about, and what came of it. */
  async function sync(spec: Partial<PodSpec>, refusal?: string) {
    const clock = new FakeClock();
    const cri = createFakeCri({ clock });
    cri.images.add(testImage);
    const events = new MemoryEvents();
    const asked: string[] = [];
    const pod = aPod({ spec });
    const runtime = new PodRuntime({
      networkError: () => undefined,
      volumes: { extraGroups: () => [] },
      exitEventsReliable: () => false,
      metrics: new Registry(),
      clock,
      log: new MemoryLog(),
      decisions: noDecisions,
      runtime: cri,
      events,
      errors: new StartErrors(),
      backoff: new RestartBackoff({ clock, limits: defaultBackoffLimits }),
      hooks: hooksOn(clock, cri).hooks,
      prune: () => ({ containers: [], sandboxes: [] }),
      logs: { remove: async () => {} },
      probes: { liveness: () => 'success', startup: () => 'success' },
      prepare: async ({ start }) => ({
        ok: ContainerConfig.fromPartial({
          metadata: { name: start.container.name, attempt: 0 },
          image: { image: testImage },
          labels: containerLabels(pod, start.container.name),
        }),
      }),
      settings: goldenSettings,
      hostDns: async () => hostDns,
      hostIps: () => [],
      runtimeHandlers: () => new Set(['runc']),
      userNamespaces: {
        async blockFor({ uid }, handler) {
          asked.push(`${uid} ${handler}`);
          if (refusal !== undefined) throw new TubeletError('exhausted', refusal);
          return block;
        },
      },
    });
    const outcome = await runtime.sync(pod, await observe(cri, pod), new AbortController().signal).then(
      () => 'synced',
      (error: unknown) => (error instanceof Error ? error.message : 'odd'),
    );
    const [sandbox] = cri.state.sandboxes.values();
    const hostIds = sandbox?.config.linux?.securityContext?.namespaceOptions?.usernsOptions?.uids.map(
      ({ hostId }) => hostId,
    );
    return { asked, outcome, hostIds, messages: events.entries.map(({ message }) => message) };
  }

  test('with the handler of its class', async () => {
    const { asked, outcome, hostIds } = await sync({ hostUsers: false, runtimeClassName: 'runc' });
    assert.deepEqual([asked, outcome, hostIds], [['uid-1 runc'], 'synced', [131_072]]);
    assert.deepEqual((await sync({ hostUsers: false })).asked, ['uid-1 ']);
  });

  test('not for pods that share the users of the node', async () => {
    for (const spec of [{}, { hostUsers: true }]) {
      const { asked, outcome, hostIds } = await sync(spec);
      assert.deepEqual([asked, outcome, hostIds], [[], 'synced', []]);
    }
  });

  test('and when it cannot have them, its events have the reason', async () => {
    const { outcome, hostIds, messages } = await sync({ hostUsers: false }, 'none is left');
    assert.deepEqual([outcome, hostIds], ['Failed to create pod sandbox: none is left', undefined]);
    assert.deepEqual(messages, ['Failed to create pod sandbox: none is left']);
    const unknown = await sync({ hostUsers: false, runtimeClassName: 'nope' });
    assert.deepEqual([unknown.asked, unknown.hostIds], [[], undefined]);
    assert.match(unknown.outcome, /runtimeclass\.node\.k8s\.io "nope" not found$/);
  });
});
