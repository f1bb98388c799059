import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flagTable } from './flags/table.ts';
import { loadSettings } from './load.ts';
import { notActedOn, notActedOnTable } from './not-acted-on.ts';
import { kubeletFields } from './schema/fields.ts';

/** May only go down: a new flag or field must come with the code that acts on it. */
const mostRows = 58;

test('the table only shrinks, and holds real flags and fields', () => {
  assert.ok(notActedOnTable.length <= mostRows, `${notActedOnTable.length} rows, at most ${mostRows} may be`);
  assert.equal(new Set(notActedOnTable).size, notActedOnTable.length);
  const known = new Set<string>([
    ...flagTable.filter((spec) => spec.field === undefined).map((spec) => `--${spec.name}`),
    ...Object.keys(kubeletFields),
    'logging.options',
  ]);
  for (const name of notActedOnTable) assert.ok(known.has(name), name);
});

test('only what somebody set is listed, with its place', () => {
  const result = loadSettings({
    argv: [
      '--config=/k',
      '--kubeconfig=/kc',
      '--address=1.1.1.1',
      '--housekeeping-interval=5s',
      '--log-text-split-stream=true',
      '--feature-gates=LoggingAlphaOptions=true',
      '--root-dir=/r',
    ],
    version: '1',
    cwd: '/',
    readFile: () =>
      'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\noomScoreAdj: 5\nstaticPodPath: /x\nevictionHard:\n  memory.available: 5%\n  pid.available: 5%\n',
    listDir: assert.fail,
  });
  assert.equal(result.kind, 'run');
  if (result.kind !== 'run') return;
  assert.deepEqual(notActedOn(result.settings), [
    'oomScoreAdj (/k:3)',
    'evictionHard (/k:6)',
    'logging.options (--log-text-split-stream)',
    '--housekeeping-interval',
  ]);
});
