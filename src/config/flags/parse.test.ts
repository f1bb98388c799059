import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFlags } from './parse.ts';

const valuesOf = (...argv: readonly string[]): Record<string, unknown> => {
  const { values, faults } = parseFlags(argv);
  assert.deepEqual(faults, []);
  // Durations and quantities compare by what they print.
  return JSON.parse(JSON.stringify(Object.fromEntries(values))) as Record<string, unknown>;
};
const faultsOf = (...argv: readonly string[]): readonly string[] => parseFlags(argv).faults;

test('the command line that no flag library reads right', () => {
  assert.deepEqual(
    valuesOf('--fail-swap-on=false', '--node-labels=a=b,c=d', '--node-labels', 'e=f', '-v=2', '--max_pods=50'),
    { 'fail-swap-on': false, 'node-labels': { a: 'b', c: 'd', e: 'f' }, v: 2, 'max-pods': 50 },
  );
});

test('forms of giving a value', () => {
  const table: readonly (readonly [readonly string[], Record<string, unknown>])[] = [
    [['--max-pods=5'], { 'max-pods': 5 }],
    [['--max-pods', '5'], { 'max-pods': 5 }],
    [['--max-pods', '-5'], { 'max-pods': -5 }],
    [['--max_pods', '0x10'], { 'max-pods': 16 }],
    [['--max-pods=010'], { 'max-pods': 8 }],
    [['--max-pods=1_000'], { 'max-pods': 1000 }],
    [['--max-pods=5', '--max-pods=6'], { 'max-pods': 6 }],
    [['-v', '2'], { v: 2 }],
    [['-v=2'], { v: 2 }],
    [['-v2'], { v: 2 }],
    [['--v=2'], { v: 2 }],
    [['-h'], { help: true }],
    [['-hv3'], { help: true, v: 3 }],
    [['--register-node'], { 'register-node': true }],
    [['--register-node=F'], { 'register-node': false }],
    [['--hostname-override='], { 'hostname-override': '' }],
    [['--hostname-override', '--kubeconfig'], { 'hostname-override': '--kubeconfig' }],
    [['--hostname-override=a=b'], { 'hostname-override': 'a=b' }],
    [['--version'], { version: 'true' }],
    [['--version=raw'], { version: 'raw' }],
    [['--max-pods=5', '--'], { 'max-pods': 5 }],
    [[], {}],
  ];
  for (const [argv, expected] of table) assert.deepEqual(valuesOf(...argv), expected, argv.join(' '));
});

test('grammars of values', () => {
  const table: readonly (readonly [string, unknown])[] = [
    ['--address=::1', '::1'],
    ['--address=010.0.0.1', '010.0.0.1'],
    ['--address=', ''],
    ['--sync-frequency=1.5h', '1h30m0s'],
    ['--log-json-info-buffer-size=1024Ki', '1Mi'],
    ['--cluster-dns=1.1.1.1,8.8.8.8', ['1.1.1.1', '8.8.8.8']],
    ['--cluster-dns=', []],
    ['--tls-cipher-suites="a,b",c,"say ""x"""', ['a,b', 'c', 'say "x"']],
    ['--kube-reserved=cpu=100m, memory = 1Gi ,', { cpu: '100m', memory: '1Gi' }],
    ['--kube-reserved=', {}],
    ['--cpu-manager-policy-options=a=b,c=d', { a: 'b,c=d' }],
    [
      '--eviction-hard=memory.available<100Mi,nodefs.available<10%',
      { 'memory.available': '100Mi', 'nodefs.available': '10%' },
    ],
    ['--eviction-minimum-reclaim=memory.available=0Mi', { 'memory.available': '0Mi' }],
    ['--node-labels=a=b,c,,d=e=f', { a: 'b', c: '', d: 'e=f' }],
    ['--feature-gates=A=true,B=F', { A: true, B: false }],
    ['--manifest-url-header=a:b,a:c,d:e:f', { a: ['b', 'c'], d: ['e:f'] }],
    [
      '--register-with-taints=k=v:NoSchedule,only:NoExecute',
      [
        { key: 'k', value: 'v', effect: 'NoSchedule' },
        { key: 'only', value: '', effect: 'NoExecute' },
      ],
    ],
    [
      '--reserved-memory=0:memory=1Gi,hugepages-1Gi=2Gi;1:memory=1Gi',
      [
        { numaNode: 0, limits: { memory: '1Gi', 'hugepages-1Gi': '2Gi' } },
        { numaNode: 1, limits: { memory: '1Gi' } },
      ],
    ],
    [
      '--vmodule=a=1,,b*=2',
      [
        { filePattern: 'a', verbosity: 1 },
        { filePattern: 'b*', verbosity: 2 },
      ],
    ],
    ['--max-open-files=9007199254740993', 9007199254740992],
  ];
  for (const [word, expected] of table) {
    const [value] = Object.values(valuesOf(word));
    assert.deepEqual(value, expected, word);
  }
});

test('repeated flags accumulate where they hold many values', () => {
  const table: readonly (readonly [readonly string[], unknown])[] = [
    [
      ['--cluster-dns=a,b', '--cluster-dns=c'],
      ['a', 'b', 'c'],
    ],
    [['--kube-reserved=cpu=1', '--kube-reserved=cpu=2,pid=3'], { cpu: '2', pid: '3' }],
    [['--feature-gates=A=true', '--feature-gates=B=true,A=false'], { A: false, B: true }],
    [['--manifest-url-header=a:b', '--manifest-url-header=a:c'], { a: ['b', 'c'] }],
    [['--cpu-manager-policy-options=a=b', '--cpu-manager-policy-options=c=d'], { a: 'b', c: 'd' }],
    [
      ['--reserved-memory=0:memory=1Gi', '--reserved-memory=1:memory=1Gi'],
      [
        { numaNode: 0, limits: { memory: '1Gi' } },
        { numaNode: 1, limits: { memory: '1Gi' } },
      ],
    ],
    [
      ['--vmodule=a=1', '--vmodule=b=2'],
      [
        { filePattern: 'a', verbosity: 1 },
        { filePattern: 'b', verbosity: 2 },
      ],
    ],
    // Taints are the exception: the last flag wins.
    [
      ['--register-with-taints=a:NoExecute', '--register-with-taints=b:NoExecute'],
      [{ key: 'b', value: '', effect: 'NoExecute' }],
    ],
  ];
  for (const [argv, expected] of table) assert.deepEqual(Object.values(valuesOf(...argv))[0], expected, argv.join(' '));
});

test('faults name flag and value', () => {
  const table: readonly (readonly [readonly string[], RegExp])[] = [
    [['--max-pods=x'], /^invalid argument "x" for "--max-pods" flag: must be a whole number$/],
    [['--max-pods='], /^invalid argument "" for "--max-pods" flag/],
    [['--max-pods=08'], /^invalid argument "08"/],
    [['--max-pods=1__0'], /^invalid argument "1__0"/],
    [['--max-pods=3000000000'], /must be from -2147483648 to 2147483647/],
    [['-vx'], /^invalid argument "x" for "-v, --v" flag/],
    [['-v=-1'], /^invalid argument "-1" for "-v, --v" flag/],
    [['--register-node=maybe'], /^invalid argument "maybe" for "--register-node" flag: must be true or false/],
    [['--address=localhost'], /must be an IP address/],
    [['--sync-frequency=5'], /^invalid argument "5" for "--sync-frequency" flag: invalid duration "5"/],
    [['--kube-reserved=cpu'], /must be name=value pairs, but "cpu" is none/],
    [['--eviction-hard=memory.available=5%'], /must be name<value pairs/],
    [['--feature-gates=A=maybe'], /A must be true or false, not "maybe"/],
    [['--manifest-url-header=a'], /must be name:value pairs/],
    [['--register-with-taints=k=v'], /must be key=value:effect/],
    [['--register-with-taints=k=v:Never'], /effect must be one of/],
    [['--register-with-taints=k:NoExecute,k:NoExecute'], /given twice/],
    [['--reserved-memory=x:memory=1Gi'], /numaNode:type=quantity/],
    [['--reserved-memory=0:cpu=1'], /only memory and hugepages/],
    [['--reserved-memory=0:memory=1,memory=1'], /given twice/],
    [['--vmodule=a'], /pattern=level/],
    [['--cluster-dns=a"b'], /comma-separated list/],
    [['--version=latest'], /must be true, false, raw or a version/],
    [['--max-pods'], /^flag needs an argument: --max-pods$/],
    [['-v'], /^flag needs an argument: 'v' in -v$/],
    [['--max-podz=5'], /^unknown flag: --max-podz, did you mean --max-pods\?$/],
    [['--zebra'], /^unknown flag: --zebra$/],
    [['-x'], /^unknown shorthand flag: 'x' in -x$/],
    [['--=5'], /^bad flag syntax: --=5$/],
    [['---max-pods=5'], /^bad flag syntax/],
    [['run'], /^unknown command "run"/],
    [['-'], /^unknown command "-"/],
    [['--', '--max-pods=5'], /^unknown command "--max-pods=5"/],
    [['--register-node', 'false'], /^unknown command "false".*write --register-node=false$/],
  ];
  for (const [argv, expected] of table) {
    const faults = faultsOf(...argv);
    assert.equal(faults.length, 1, `${argv.join(' ')}: ${faults.join('; ')}`);
    assert.match(faults[0] ?? '', expected);
  }
});

test('all faults are found at once, and the value of an unknown flag is not a second fault', () => {
  const faults = faultsOf('--max-podz', '5', '--max-pods=x', '--sync-frequency', 'y', 'stray', '--port=1');
  assert.equal(faults.length, 4);
  assert.match(faults[3] ?? '', /stray/);
});
