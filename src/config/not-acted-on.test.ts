import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { flagTable } from './flags/table.ts';
import { loadSettings } from './load.ts';
import { isNotActedOn, notActedOn, notActedOnTable, shortened } from './not-acted-on.ts';
import { kubeletFields } from './schema/fields.ts';

/** May only go down: a new flag or field must come with the code that acts on it. */
const maxRows = 48;

test('the table only shrinks, and holds real flags and fields', () => {
  assert.ok(notActedOnTable.length <= maxRows, `${notActedOnTable.length} rows, at most ${maxRows} may be`);
  assert.equal(new Set(notActedOnTable).size, notActedOnTable.length);
  const known = new Set<string>([
    ...flagTable.filter((spec) => spec.field === undefined).map((spec) => `--${spec.name}`),
    ...Object.keys(kubeletFields),
    'logging.options',
  ]);
  for (const name of notActedOnTable) assert.ok(known.has(name), name);
});

function listed(argv: readonly string[], file?: string): readonly string[] {
  const result = loadSettings({
    argv: [...argv, ...(file === undefined ? [] : ['--config=/k'])],
    version: '1',
    cwd: '/',
    readFile: () => `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${file}`,
    listDir: assert.fail,
  });
  assert.equal(result.kind, 'run', JSON.stringify(result));
  return result.kind === 'run' ? notActedOn(result.settings) : [];
}

describe('the list', () => {
  test('explicit settings with their origin, and what a kubelet does by default: protection of the node first', () => {
    const argv = ['--address=1.1.1.1', '--housekeeping-interval=5s', '--log-text-split-stream=true', '--root-dir=/r'];
    const gate = '--feature-gates=LoggingAlphaOptions=true';
    const file =
      'topologyManagerScope: pod\nstaticPodPath: /x\nevictionHard:\n  memory.available: 5%\n  pid.available: 5%\n';
    assert.deepEqual(listed(['--kubeconfig=/kc', gate, ...argv], file), [
      'evictionHard (/k:6)',
      'imageGCHighThresholdPercent (default)',
      'topologyManagerScope (/k:3)',
      'logging.options (--log-text-split-stream)',
      '--housekeeping-interval',
    ]);
  });

  test('by default settings that are in force by default: with a configuration file eviction too', () => {
    const always = ['imageGCHighThresholdPercent'];
    const names = (list: readonly string[]): readonly string[] => list.map((entry) => entry.replace(' (default)', ''));
    assert.deepEqual(names(listed([])), always);
    assert.deepEqual(names(listed(['--kubeconfig=/kc'], 'staticPodPath: /x\n')), ['evictionHard', ...always]);
  });

  test('disabled settings are not listed by default', () => {
    const list = listed(['--image-gc-high-threshold=100', '--hairpin-mode=none']);
    assert.deepEqual(
      list.filter((entry) => entry.endsWith('(default)')),
      [],
    );
    assert.equal(list.length, 2, 'an explicit setting is reported, whatever its value');
  });

  test('the line stays readable', () => {
    const list = Array.from({ length: 25 }, (_, index) => `s${index}`);
    assert.deepEqual(shortened(list).slice(-2), ['s19', 'and 5 more, see tubelet config show']);
    assert.deepEqual(shortened(list.slice(0, 20)), list.slice(0, 20));
  });
});

test('a value is not acted on with all below it', () => {
  assert.equal(isNotActedOn(['evictionHard', 'memory.available']), true);
  assert.equal(isNotActedOn(['logging', 'options', 'text']), true);
  assert.equal(isNotActedOn(['logging', 'format']), false);
  assert.equal(isNotActedOn(['evictionHarder']), false);
});
