import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSettings } from '../load.ts';
import { isObjectType, type Field, type Fields } from '../schema/field-types.ts';
import { kubeletFields } from '../schema/fields.ts';
import { helpText } from './help.ts';
import { camelCase, ownFlags } from './own-flags.ts';
import { parseFlags } from './parse.ts';
import { flagTable } from './table.ts';

function fieldAt(path: string): Field | undefined {
  let fields: Fields = kubeletFields;
  let field: Field | undefined;
  for (const step of path.split('.')) {
    field = fields[step];
    fields = field !== undefined && isObjectType(field.type) ? field.type.object : {};
  }
  return field;
}

test('there are 150 flags, each once, in the classes of 1.34', () => {
  assert.equal(flagTable.length, 150);
  assert.equal(new Set(flagTable.map((spec) => spec.name)).size, 150);
  const count = (deprecated: string | undefined): number =>
    flagTable.filter((spec) => spec.deprecated === deprecated).length;
  assert.deepEqual([count('field'), count('unneeded'), count('stray'), count(undefined)], [102, 6, 18, 24]);
});

test('every flag with a field sets a real field of the right type', () => {
  const kinds: Record<string, unknown> = {
    bool: 'bool',
    string: 'string',
    ip: 'string',
    int: 'int64',
    int32: 'int32',
    level: 'uint32',
    quantity: 'quantity',
    strings: { list: 'string' },
    map: { map: 'string' },
    pairMap: { map: 'string' },
    angleMap: { map: 'string' },
    boolMap: { map: 'bool' },
    multimap: { map: { list: 'string' } },
  };
  for (const spec of flagTable.filter((flag) => flag.field !== undefined)) {
    const field = fieldAt(spec.field ?? '');
    assert.notEqual(field, undefined, spec.name);
    if (spec.type in kinds) assert.deepEqual(field?.type, kinds[spec.type], spec.name);
    if (spec.type === 'duration') assert.match(JSON.stringify(field?.type), /^"duration/, spec.name);
  }
});

test('giving every flag its default changes nothing', () => {
  const load = (argv: readonly string[]): unknown => {
    const result = loadSettings({ argv, version: '1', cwd: '/', readFile: assert.fail, listDir: assert.fail });
    assert.equal(result.kind, 'run', JSON.stringify(result));
    return result.kind === 'run' ? [result.settings.config, result.settings.flags] : undefined;
  };
  const argv = flagTable
    .filter((spec) => spec.name !== 'version' && !(spec.type === 'quantity' && spec.default === ''))
    .map((spec) => `--${spec.name}=${spec.default}`);
  assert.deepEqual(load(argv), load([]));
});

test('flags without a field become camel-case settings', () => {
  const flags = ownFlags(parseFlags(['--node-ip=1.2.3.4', '--lock-file=/x', '--node-labels=a=b']).values);
  assert.equal(flags.nodeIp, '1.2.3.4');
  assert.equal(flags.lockFile, '/x');
  assert.equal(flags.rootDir, '/var/lib/kubelet');
  assert.deepEqual(flags.nodeLabels, { a: 'b' });
  assert.equal(flags.housekeepingInterval.toString(), '10s');
  assert.equal(camelCase('image-credential-provider-bin-dir'), 'imageCredentialProviderBinDir');
});

test('help shows every flag with its default', () => {
  const text = helpText();
  for (const { name } of flagTable) assert.match(text, new RegExp(`--${name}[ \\[\\n]`), name);
  assert.match(text, /-v, --v LEVEL/);
  assert.match(text, /--max-pods N\n +pods the node runs at most \(default 110\) \[maxPods\]/);
  assert.ok(text.split('\n').every((line) => line.length <= 200));
});
