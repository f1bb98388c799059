import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSettings, type Settings } from '../../../config/index.ts';
import { imageSettings, providerSettings } from './image-settings.ts';

const places = { workingDir: '/work', homeDir: '/home' };

function settingsOf(...argv: readonly string[]): Settings {
  const result = loadSettings({ argv, version: '1', cwd: '/', readFile: assert.fail, listDir: assert.fail });
  return result.kind === 'run' ? result.settings : assert.fail();
}

test('the configuration of images is passed on', () => {
  const settings = settingsOf(
    '--root-dir=/k',
    '--registry-qps=3',
    '--registry-burst=7',
    '--image-credential-provider-bin-dir=/bin/providers',
    '--image-credential-provider-config=/providers.yaml',
    '--feature-gates=KubeletEnsureSecretPulledImages=true',
  );
  assert.deepEqual(imageSettings(settings, places), {
    parallelPulls: 1,
    pullRate: { perSecond: 3, burst: 7 },
    nodeConfigPlaces: { rootDir: '/k', ...places },
    providerBinDir: '/bin/providers',
    pullRecords: { policy: 'NeverVerifyPreloadedImages', allowlist: [] },
  });
  assert.deepEqual(providerSettings(settings), {
    places: { config: '/providers.yaml', binDir: '/bin/providers' },
    options: { serviceAccountTokens: true },
  });
});

test('records of pulls are a matter of the gate, parallel pulls of serializeImagePulls', () => {
  const settings = settingsOf('--feature-gates=KubeletEnsureSecretPulledImages=false', '--serialize-image-pulls=false');
  const { pullRecords, parallelPulls } = imageSettings(settings, places);
  assert.deepEqual([pullRecords, parallelPulls], [undefined, Number.POSITIVE_INFINITY]);
});
