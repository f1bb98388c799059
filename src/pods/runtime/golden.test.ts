import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '../../gen/kubernetes/types.ts';
import { findContainer } from '../../model/containers.ts';
import { isRefusal } from '../../model/refusal.ts';
import {
  goldenHostDns,
  goldenLookup,
  goldenNames,
  goldenNode,
  goldenPod,
  goldenSettings,
  goldenVolume,
  loadGolden,
  type GoldenRecord,
} from '../../testing/golden.ts';
import { asRecorded } from '../../testing/golden-messages.ts';
import { computeContainerConfig } from './compute-container-config.ts';
import { computeContainerEnv } from './compute-container-env.ts';
import { computeSandboxConfig } from './compute-sandbox-config.ts';

/** Records without any call to the runtime, and why. */
const withoutCalls: Readonly<Record<string, string>> = {
  apparmor: 'refused at admission: the recorded host has no AppArmor',
  'host-users-false': 'the recorded runtime has no user namespaces, so no sandbox was asked for',
  'os-windows': 'refused at admission: another operating system',
  'out-of-cpu': 'refused at admission: not enough CPU',
  'sysctl-unsafe': 'refused at admission: forbidden sysctl',
  'vol-missing-secret': 'waits for its volume, so no sandbox was asked for',
};

const names = goldenNames();
const node = goldenNode();

test('every record is compared, or stands in the list of those that cannot be', () => {
  const empty = names.filter((name) => !loadGolden(name).cri.some(({ verb }) => verb === 'RunPodSandbox'));
  assert.deepEqual(empty, Object.keys(withoutCalls).sort());
  assert.equal(names.length, 57);
});

for (const name of names.filter((name) => withoutCalls[name] === undefined)) {
  test(`sandbox of ${name}`, () => {
    const record = loadGolden(name);
    const calls = record.cri.filter(({ verb }) => verb === 'RunPodSandbox');
    for (const { request } of calls) {
      const attempt = request.config?.metadata.attempt ?? 0;
      const settings = goldenSettings;
      const config = computeSandboxConfig({ pod: goldenPod(record), attempt, settings, hostDns: goldenHostDns });
      assert.deepEqual(asRecorded(config), request.config);
    }
  });

  test(`containers of ${name}`, () => {
    const record = loadGolden(name);
    for (const { request } of record.cri.filter(({ verb }) => verb === 'CreateContainer')) {
      assert.ok(request.config);
      const { name: container, attempt = 0 } = request.config.metadata;
      const config = containerOf(record, container, attempt);
      if (isRefusal(config)) assert.fail(config.refusal.message);
      assert.deepEqual(asRecorded(config), request.config);
    }
  });
}

test('refusals have the messages of the reference', () => {
  for (const name of ['sc-nonroot-violation', 'env-missing-configmap']) {
    const record = loadGolden(name);
    const waiting = record.statuses
      .map((status) => status.containerStatuses?.[0]?.state?.waiting)
      .find((state) => state?.reason === 'CreateContainerConfigError');
    assert.deepEqual(containerOf(record, 'c', 0), { refusal: waiting });
  }
});

function containerOf(record: GoldenRecord, name: string, restartCount: number) {
  const pod = goldenPod(record);
  const entry = findContainer(pod.spec, name);
  assert.ok(entry);
  const container: Container = entry.container;
  const podIps = pod.spec.hostNetwork === true ? ['{{hostIP}}'] : ['{{podIP}}'];
  const shared = { pod, container, podIps, hostIps: ['{{hostIP}}'], node };
  const env = computeContainerEnv({ ...shared, nodeName: '{{node}}', lookup: goldenLookup(recordedServiceIp(record)) });
  if (isRefusal(env)) return env;
  return computeContainerConfig({
    ...shared,
    kind: entry.kind,
    restartCount,
    image: { ref: 'sha256:{{digest}}', user: {} },
    volumes: new Map((pod.spec.volumes ?? []).map((volume) => [volume.name, goldenVolume(volume)])),
    env,
    files: {
      etcHosts: '{{rootDir}}/pods/{{podUid}}/etc-hosts',
      terminationLog: `{{rootDir}}/pods/{{podUid}}/containers/${name}/{{rand}}`,
    },
    settings: goldenSettings,
  });
}

/** The records of static pods carry the real address of the service. */
function recordedServiceIp(record: GoldenRecord): string | undefined {
  const create = record.cri.find(({ verb }) => verb === 'CreateContainer')?.request.config;
  const envs = (create?.['envs'] ?? []) as readonly { readonly key: string; readonly value: string }[];
  return envs.find(({ key }) => key === 'WEB_SVC_SERVICE_HOST')?.value;
}
