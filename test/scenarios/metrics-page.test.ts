import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, test } from 'node:test';
import { absentMetrics, reasonForAbsence, type FamilyShape } from '../../src/telemetry/index.ts';
import { TlsAuthority } from '../../src/testing/tls-authority.ts';
import { WholeAgent } from '../support/whole-agent.ts';

interface Row {
  readonly name: string;
  readonly type: string | undefined;
  readonly labels: readonly string[];
  readonly buckets: readonly number[] | undefined;
}

/** `name | type | labels | buckets`; what is not known is a dash. */
function rows(file: string): readonly Row[] {
  return readFileSync(`test/golden/node/${file}`, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [name = '', type, labels, buckets] = line.split(' | ').map((cell) => (cell === '-' ? undefined : cell));
      return { name, type, labels: labels?.split(',') ?? [], buckets: buckets?.split(',').map(Number) };
    });
}

/** What a Go kubelet has on its page, and what its sources say it may have. */
const recorded = rows('metrics.txt');
const documented = rows('metrics-documented.txt');
const expected = [...recorded, ...documented];
/** What the agent has that no Go kubelet has. */
const own = /^tubelet_/;

/** An agent that has all there is to measure: a cluster, certificates that it renews, reviews, an old runtime, plugins. */
async function agentFamilies(): Promise<readonly FamilyShape[]> {
  const authority = await TlsAuthority.create();
  const agent = new WholeAgent({
    cluster: true,
    flags: [
      '--feature-gates=ImageVolume=true',
      '--rotate-server-certificates',
      '--client-ca-file=/ca.crt',
      '--authentication-token-webhook',
      '--authorization-mode=Webhook',
      '--anonymous-auth=false',
    ],
    overrides: ({ certificates, cri }) => {
      certificates.put('/ca.crt', authority.certificate);
      cri.faults.fail('runtimeConfig', 'unsupported');
      return {
        renewsIdentity: true,
        host: { loadImageProviders: async () => ({ providers: [], hash: 'sha256:0' }) },
      };
    },
  });
  await agent.start();
  const families = agent.registry.families();
  await agent.stop();
  return families;
}

describe('the metrics of the agent', () => {
  let families: ReadonlyMap<string, FamilyShape>;

  before(async () => {
    families = new Map((await agentFamilies()).map((family) => [family.name, family]));
  });

  test('all that a Go kubelet has is there, or the table says why not', () => {
    const missing = expected.filter(({ name }) => !families.has(name) && reasonForAbsence(name) === undefined);
    assert.deepEqual(
      missing.map(({ name }) => name),
      [],
    );
  });

  test('types and labels are the same', () => {
    for (const { name, type, labels } of expected) {
      const family = families.get(name);
      if (family === undefined) continue;
      assert.deepEqual([name, family.labels], [name, labels]);
      if (type !== undefined) assert.deepEqual([name, family.type], [name, type]);
    }
  });

  test('buckets are the same', () => {
    const compared = documented.filter(({ name, buckets }) => {
      const family = families.get(name);
      if (family === undefined || buckets === undefined) return false;
      assert.deepEqual([name, family.buckets], [name, buckets]);
      return true;
    });
    assert.ok(compared.length >= 19, String(compared.length));
  });

  test('the table of what is absent has no row too many', () => {
    for (const key of Object.keys(absentMetrics)) {
      const matches = (name: string): boolean => (key.endsWith('*') ? name.startsWith(key.slice(0, -1)) : name === key);
      assert.ok(
        expected.some(({ name }) => matches(name)),
        `${key}: no kubelet has it`,
      );
      assert.deepEqual([key, [...families.keys()].filter(matches)], [key, []]);
    }
  });

  test('what no Go kubelet has is marked as ours', () => {
    const known = new Set(expected.map(({ name }) => name));
    const strangers = [...families.keys()].filter((name) => !known.has(name) && !own.test(name));
    assert.deepEqual(strangers, []);
  });

  test('how much users may rely on each is said where it is more than nothing', () => {
    const beta = ['disabled_metrics_total', 'hidden_metrics_total', 'kubernetes_feature_enabled'];
    const found = [...families.values()].filter(({ stability }) => stability === 'BETA').map(({ name }) => name);
    assert.deepEqual(found.toSorted(), [...beta, 'registered_metrics_total']);
    const without = [...families.values()].filter(({ stability }) => stability === undefined).map(({ name }) => name);
    assert.deepEqual(
      without.filter((name) => !/^(process|tubelet)_/.test(name)),
      [],
    );
  });
});

test('a node of a cluster tells how it works', async () => {
  const agent = new WholeAgent({ cluster: true });
  await agent.start();
  await agent.clock.advance(10_000);
  agent.manifest('static');
  agent.bind('web');
  await agent.clock.advance(5_000);
  assert.equal(agent.pod('web')?.status?.phase, 'Running');
  const page = agent.registry.render();
  for (const line of [
    /^kubelet_mirror_pods 1$/m,
    /^kubelet_pod_start_sli_duration_seconds_count 1$/m,
    /^kubelet_pod_start_total_duration_seconds_count 1$/m,
    /^kubelet_pod_start_duration_seconds_count 2$/m,
    /^kubelet_started_pods_total 2$/m,
    /^kubelet_run_podsandbox_duration_seconds_count\{runtime_handler=""\} 2$/m,
    /^workqueue_depth\{name="status-writer"\} 0$/m,
    /^workqueue_adds_total\{name="mirror-pod-reconciler"\} [1-9]/m,
    /^kubelet_orphan_pod_cleaned_volumes 0$/m,
  ]) {
    assert.match(page, line);
  }
  await agent.stop();
});
