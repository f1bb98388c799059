import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeFile } from './decode-file.ts';
import { renderFault } from './fault.ts';
import { nodeAt } from './sourced-tree.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

function decode(body: string): { readonly faults: readonly string[]; readonly warnings: readonly string[] } {
  const { faults, warnings } = decodeFile(head + body, '/k.yaml', 'file');
  return { faults: faults.map(renderFault), warnings: warnings.map(renderFault) };
}

function valueOf(body: string, path: string): unknown {
  const { tree, faults } = decodeFile(head + body, '/k.yaml', 'file');
  assert.deepEqual(faults, []);
  const node = nodeAt(tree, path.split('/'));
  return node?.kind === 'leaf' ? JSON.parse(JSON.stringify(node.value)) : undefined;
}

test('values of every type', () => {
  const table: readonly (readonly [string, string, unknown])[] = [
    ['maxPods: 5', 'maxPods', 5],
    ['enableServer: no', 'enableServer', false],
    ['syncFrequency: 90s', 'syncFrequency', '1m30s'],
    ['logging: {flushFrequency: 5000000000}', 'logging/flushFrequency', '5s'],
    ['logging: {flushFrequency: 3s}', 'logging/flushFrequency', '3s'],
    ['logging: {options: {json: {infoBufferSize: 1024Ki}}}', 'logging/options/json/infoBufferSize', '1Mi'],
    ['memoryThrottlingFactor: 0.5', 'memoryThrottlingFactor', 0.5],
    ['memoryThrottlingFactor: 1', 'memoryThrottlingFactor', 1],
    ['clusterDNS: [10.0.0.1]', 'clusterDNS', ['10.0.0.1']],
    ['evictionHard: {memory.available: 5%}', 'evictionHard/memory.available', '5%'],
    ['staticPodURLHeader: {a: [b, c]}', 'staticPodURLHeader/a', ['b', 'c']],
    ['featureGates: {KubeletPSI: off}', 'featureGates/KubeletPSI', false],
    [
      'reservedMemory: [{numaNode: 1, limits: {memory: 1Gi}}]',
      'reservedMemory',
      [{ numaNode: 1, limits: { memory: '1Gi' } }],
    ],
    [
      'registerWithTaints: [{key: a, effect: NoExecute}]',
      'registerWithTaints',
      [{ key: 'a', value: '', effect: 'NoExecute' }],
    ],
    ['maxPods: null', 'maxPods', null],
    ['userNamespaces: {idsPerPod: 65536}', 'userNamespaces/idsPerPod', 65536],
  ];
  for (const [body, path, expected] of table) assert.deepEqual(valueOf(body, path), expected, body);
});

test('wrong types name file, line, field and the expected type', () => {
  const table: readonly (readonly [string, string])[] = [
    ['maxPods: "5"', '/k.yaml:3: maxPods: expected a whole number of 32 bits, got "5"'],
    ['maxPods: 1.5', '/k.yaml:3: maxPods: expected a whole number of 32 bits, got 1.5'],
    ['maxPods: 3000000000', '/k.yaml:3: maxPods: expected a whole number of 32 bits, got 3000000000'],
    [
      'maxOpenFiles: 18446744073709551615',
      '/k.yaml:3: maxOpenFiles: expected a whole number of 64 bits, got "18446744073709551615"',
    ],
    [
      'logging: {verbosity: -1}',
      '/k.yaml:3: logging.verbosity: expected a whole number of 32 bits, not negative, got -1',
    ],
    ['enableServer: "yes"', '/k.yaml:3: enableServer: expected true or false, got "yes"'],
    ['syncFrequency: 60', '/k.yaml:3: syncFrequency: expected a duration such as 1m30s, got 60'],
    ['syncFrequency: fast', '/k.yaml:3: syncFrequency: expected a duration such as 1m30s, got "fast"'],
    ['clusterDomain: 5', '/k.yaml:3: clusterDomain: expected text, got 5; put the value in quotes'],
    ['kubeReserved:\n  cpu: 1', '/k.yaml:4: kubeReserved.cpu: expected text, got 1; put the value in quotes'],
    ['clusterDNS: 10.0.0.1', '/k.yaml:3: clusterDNS: expected a list, got "10.0.0.1"'],
    ['clusterDNS:\n- a\n- 5', '/k.yaml:5: clusterDNS.1: expected text, got 5; put the value in quotes'],
    ['authentication: []', '/k.yaml:3: authentication: expected a mapping of fields, got []'],
    // Headers hold credentials.
    [
      'staticPodURLHeader: {Authorization: hunter2}',
      '/k.yaml:3: staticPodURLHeader.Authorization: expected a list, got <masked>',
    ],
    [
      'staticPodURLHeader: {Authorization: [4711]}',
      '/k.yaml:3: staticPodURLHeader.Authorization.0: expected text, got <masked>; put the value in quotes',
    ],
    ['evictionHard: 5', '/k.yaml:3: evictionHard: expected a mapping, got 5'],
    [
      'registerWithTaints:\n- key: 5',
      '/k.yaml:4: registerWithTaints.0.key: expected text, got 5; put the value in quotes',
    ],
  ];
  for (const [body, expected] of table) assert.deepEqual(decode(body).faults, [expected], body);
});

test('unknown and repeated fields are warnings with line and suggestion', () => {
  assert.deepEqual(
    decode('MaxPods: 5\nauthentication:\n  anonymus:\n    enabled: true\nzebra: 1\nmaxPods: 1\nmaxPods: 2\n'),
    {
      faults: [],
      warnings: [
        '/k.yaml:9: maxPods: this field is set twice, the last one counts',
        '/k.yaml:3: MaxPods: unknown field, did you mean maxPods?',
        '/k.yaml:5: authentication.anonymus: unknown field, did you mean anonymous?',
        '/k.yaml:7: zebra: unknown field',
      ],
    },
  );
  assert.deepEqual(decode('logging:\n  vmodule:\n  - filePatern: a\n').warnings, [
    '/k.yaml:5: logging.vmodule.0.filePatern: unknown field, did you mean filePattern?',
  ]);
});

test('a file must be a single document, name its kind, and have content', () => {
  const faultsOf = (text: string): readonly string[] => decodeFile(text, '/k', 'dropIn').faults.map(renderFault);
  assert.deepEqual(faultsOf(''), ['/k:1: the file is empty']);
  assert.deepEqual(faultsOf('# nothing\n'), ['/k:1: the file is empty']);
  assert.deepEqual(faultsOf('maxPods: 5'), [
    '/k:1: apiVersion: missing; add "apiVersion: kubelet.config.k8s.io/v1beta1"',
    '/k:1: kind: missing; add "kind: KubeletConfiguration"',
  ]);
  assert.deepEqual(faultsOf('apiVersion: v1\nkind: Pod'), [
    '/k:1: apiVersion: expected kubelet.config.k8s.io/v1beta1, got "v1"',
    '/k:2: kind: expected KubeletConfiguration, got "Pod"',
  ]);
  assert.deepEqual(faultsOf('just text'), ['/k:1: expected a mapping of fields, got "just text"']);
  assert.match(faultsOf('a:\n\tb: 1')[0] ?? '', /^\/k:2: not valid YAML: .*\(column 1\)$/);
  assert.deepEqual(decode('---\nmaxPods: 5\n').warnings, ['/k.yaml:4: only the first document of the file is read']);
});

test('JSON is read too', () => {
  const text =
    '{\n\t"apiVersion": "kubelet.config.k8s.io/v1beta1",\n\t"kind": "KubeletConfiguration",\n\t"maxPods": "x"\n}';
  assert.deepEqual(decodeFile(text, '/k.json', 'file').faults.map(renderFault), [
    '/k.json:4: maxPods: expected a whole number of 32 bits, got "x"',
  ]);
});

test('all faults of a file are found at once', () => {
  assert.equal(decode('maxPods: x\nport: y\nsyncFrequency: z\nclusterDNS: {}\n').faults.length, 4);
});
