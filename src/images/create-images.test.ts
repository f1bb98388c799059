import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Masked } from '../base/masked.ts';
import { PodRemoval } from '../model/pod-removal.ts';
import { Registry } from '../telemetry/index.ts';
import { createFakeCri } from '../testing/fake-cri/index.ts';
import { commonPorts } from '../testing/common-ports.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryEvents } from '../testing/memory-events.ts';
import { MemoryFiles } from '../testing/memory-files.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { aContainer, aPod } from '../testing/pods.ts';
import { createImages, type ImageSettings, type ImagesWiring } from './create-images.ts';

const never = new AbortController().signal;
const apiVersion = 'credentialprovider.kubelet.k8s.io/v1';

function created(settings: Partial<ImageSettings> = {}, providers?: ImagesWiring['providers']) {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const cri = createFakeCri({ clock });
  const memory = new MemoryFiles();
  const podRemoval = new PodRemoval(log);
  const metrics = new Registry();
  const parts = createImages({
    ports: commonPorts({ clock, log, metrics }),
    signals: { podRemoval },
    settings: {
      parallelPulls: 1,
      pullRate: { perSecond: 0, burst: 0 },
      nodeConfigPlaces: { rootDir: '/k', workingDir: '/', homeDir: '' },
      providerBinDir: '/bin/providers',
      pullRecords: undefined,
      ...settings,
    },
    service: cri,
    events: new MemoryEvents(),
    secrets: { secret: () => undefined },
    files: Object.assign(memory, {
      writeAtomic: (path: string, content: string, mode: number) => memory.writeFile(path, content, mode),
    }),
    pluginRunner: {
      run: async () =>
        JSON.stringify({
          kind: 'CredentialProviderResponse',
          apiVersion,
          cacheKeyType: 'Image',
          auth: { '*.example': { username: 'u', password: 'p' } },
        }),
    },
    providers,
    pullWaits: { began: () => {}, ended: () => {} },
  });
  const ensure = (image: string) => parts.images.ensure(aPod(), aContainer('main', { image }), '', never);
  return { ...parts, ensure, cri, memory, metrics, podRemoval };
}

test('nothing of a failed pull is remembered of a removed pod', async () => {
  const { cri, ensure, podRemoval } = created();
  cri.images.scriptPulls('app:1', { failure: { kind: 'unavailable', message: 'no way' } });
  cri.images.scriptPulls('app:2', { failure: { kind: 'unavailable', message: 'no way' } });
  for (const image of ['app:1', 'app:2']) assert.equal('refusal' in (await ensure(image)), true);
  assert.deepEqual([...podRemoval.sizes()], [['image-pulls', 1]]);
  const waiting = await ensure('app:1');
  assert.equal('refusal' in waiting && waiting.refusal.reason, 'ImagePullBackOff');
  podRemoval.podRemoved(aPod().uid);
  assert.deepEqual([...podRemoval.sizes()], [['image-pulls', 0]]);
  const again = await ensure('app:1');
  assert.equal('refusal' in again && again.refusal.reason, 'ErrImagePull', 'tried at once');
});

test('plugins that were read are asked, and announced by their hash', async () => {
  const config = {
    name: 'plugin',
    matchImages: ['*.example'],
    defaultCacheMs: 1,
    apiVersion,
    args: [],
    environment: new Masked({}),
  };
  const { cri, ensure, metrics } = created({}, { providers: [config], hash: 'sha256:1' });
  cri.images.publish('a.example/app:1', {}, { username: 'u', password: 'p' });
  assert.equal('ok' in (await ensure('a.example/app:1')), true);
  assert.match(metrics.render(), /kubelet_credential_provider_config_info\{hash="sha256:1"\} 1/);
  assert.doesNotMatch(created().metrics.render(), /kubelet_credential_provider_config_info/);
});

test('records are kept where they are wanted, and start before anything pulls', async () => {
  assert.deepEqual(created().components, []);
  const pullRecords = { policy: 'AlwaysVerify', allowlist: [] } as const;
  const { components, ensure, memory } = created({ pullRecords });
  assert.deepEqual(
    components.map(({ name }) => name),
    ['pull-records'],
  );
  for (const component of components) await component.start(never);
  await ensure('app:1');
  assert.equal([...memory.entries.keys()].filter((path) => path.startsWith('/k/image_manager/pulled/')).length, 1);
});
