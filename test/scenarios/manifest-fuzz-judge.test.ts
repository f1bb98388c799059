import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../src/gen/kubernetes/types.ts';
import { judge } from '../fuzz/manifests/judge.ts';
import type { LogLine, Played } from '../fuzz/manifests/played.ts';
import { plainOf, Raw, Pairs, textOf } from '../fuzz/manifests/tree.ts';
import { secretMark } from '../fuzz/manifests/valid-pods.ts';

const line = (more: Partial<LogLine>): LogLine => ({
  severity: 'info',
  message: 'Something happened',
  text: 'I "Something happened"',
  path: undefined,
  error: undefined,
  errorNames: [],
  ...more,
});
const taken = line({ severity: 'debug', message: 'Read static pod manifest', path: '/m/a.yaml' });
const refused = (error: string): LogLine =>
  line({
    severity: 'error',
    message: 'Bad static pod manifest',
    path: '/m/a.yaml',
    error,
    text: error,
    errorNames: ['TubeletError'],
  });
const good = { name: 'good', isReady: true, sandboxes: ['s ready'], containers: ['c running'] };
const pod = (spec: Partial<NonNullable<Pod['spec']>> = {}): Pod => ({
  metadata: { name: 'p', namespace: 'default' },
  spec: { containers: [{ name: 'c' }], ...spec },
});
const running = (spec: Partial<NonNullable<Pod['spec']>> = {}): Played['pods'][number] => ({
  pod: pod(spec),
  isStatic: true,
  status: { phase: 'Running' },
});
const fine: Played = {
  world: 'cluster',
  files: ['a.yaml'],
  cpuMs: 10,
  broken: [],
  log: [taken],
  events: [],
  pods: [running()],
  touches: [{ operation: 'writeFile', path: '/var/lib/kubelet/pods/u/etc-hosts' }],
  hostPaths: [],
  requests: [],
  apiReads: ['nodes default/node-1'],
  goodBefore: [good],
  goodAfter: [good],
  left: [],
};
const container = (config: unknown): Pick<Played, 'requests'> => ({
  requests: [{ verb: 'createContainer', request: { config } }],
});
const sandbox = (config: unknown): Pick<Played, 'requests'> => ({
  requests: [
    { verb: 'runPodSandbox', request: { config: { logDirectory: '/var/log/pods/x', ...(config as object) } } },
  ],
});
const touch = (path: string): Pick<Played, 'touches'> => ({ touches: [{ operation: 'removeTree', path }] });
const srv = { hostPaths: ['/srv/'] };

const table: readonly (readonly [what: string, found: RegExp | undefined, more: Partial<Played>])[] = [
  ['nothing', undefined, {}],
  ['a step that failed', /^the node did not come to rest/, { broken: ['the node did not come to rest: x'] }],
  ['much of the processor', /^it took 2000 ms/, { cpuMs: 2_000 }],
  ['a good pod that is not ready', /^the good pod good is not ready/, { goodAfter: [{ ...good, isReady: false }] }],
  [
    'a good pod with another container',
    /^the good pod good was restarted/,
    { goodAfter: [{ ...good, containers: ['d running'] }] },
  ],
  [
    'a good pod with a second sandbox',
    /^the good pod good was restarted/,
    { goodAfter: [{ ...good, sandboxes: ['s ready', 't ready'] }] },
  ],
  ['something that is left', /^1 things are left: folder u/, { left: ['folder u'] }],
  ['a file without a word', /^a.yaml was neither taken nor refused/, { log: [] }],
  ['a file that is no manifest', undefined, { log: [], files: ['a.txt', '.b.yaml'] }],
  ['a refusal', undefined, { log: [refused('/m/a.yaml:3: spec: Required value')] }],
  ['a refusal without its file', /^a refusal does not begin with its file/, { log: [refused('spec: Required value')] }],
  ['a long refusal', /^a refusal of 3\d{3} bytes/, { log: [refused(`/m/a.yaml: ${'x'.repeat(3_000)}`)] }],
  [
    'a refusal of the engine',
    /in the words of the engine/,
    { log: [refused('/m/a.yaml: Cannot read properties of null')] },
  ],
  ['an empty refusal', /^a refusal that says nothing/, { log: [refused('/m/a.yaml:3: ')] }],
  [
    'many refusals',
    /^60 lines about/,
    { log: Array.from({ length: 60 }, () => refused('/m/a.yaml:3: spec: Required value')) },
  ],
  [
    'a pod without a word',
    /^default\/p was taken, and nothing is said of it/,
    { pods: [{ ...running(), status: undefined }] },
  ],
  [
    'a static pod with a ConfigMap',
    /names an object of the API server: configMap$/,
    { pods: [running({ volumes: [{ name: 'v', configMap: { name: 'c' } }] })] },
  ],
  [
    'the same alone on a node',
    undefined,
    { world: 'folder', pods: [running({ volumes: [{ name: 'v', configMap: { name: 'c' } }] })] },
  ],
  [
    'the same from the API server',
    undefined,
    { pods: [{ ...running({ volumes: [{ name: 'v', configMap: { name: 'c' } }] }), isStatic: false }] },
  ],
  ['a static pod with an account', /serviceAccountName$/, { pods: [running({ serviceAccountName: 'a' })] }],
  [
    'a static pod with a deep Secret',
    /: secretKeyRef$/,
    {
      pods: [
        running({
          containers: [{ name: 'c', env: [{ name: 'A', valueFrom: { secretKeyRef: { key: 'k', name: 's' } } }] }],
        }),
      ],
    },
  ],
  [
    'a read for a static pod',
    /^static pods made the agent ask for secrets default\/s/,
    { apiReads: ['secrets default/s'] },
  ],
  ['a huge status', /has a text of 70000 bytes/, { pods: [{ ...running(), status: { message: 'x'.repeat(70_000) } }] }],
  [
    'a status of the engine',
    /has words of the engine/,
    { pods: [{ ...running(), status: { message: 'x is not a function' } }] },
  ],
  [
    'a huge event',
    /^an event Failed of 20000 bytes/,
    { events: [{ pod: 'p', reason: 'Failed', message: 'x'.repeat(20_000) }] },
  ],
  [
    'an event of the engine',
    /^an event in the words of the engine/,
    { events: [{ pod: 'p', reason: 'Failed', message: 'Invalid string length' }] },
  ],
  [
    'very many events',
    /^700 events/,
    { events: Array.from({ length: 700 }, () => ({ pod: 'p', reason: 'A', message: 'b' })) },
  ],
  ['a huge line', /^a log line of 20000 bytes/, { log: [taken, line({ text: 'x'.repeat(20_000) })] }],
  ['a line with an escape', /^a log line with control characters/, { log: [taken, line({ text: 'a\x1b[0m' })] }],
  [
    'a bug in the log',
    /^a bug shows in the log: Something happened: TypeError/,
    { log: [taken, line({ error: 'x', errorNames: ['TubeletError', 'TypeError'] })] },
  ],
  ['a secret in the log', /^the value of a secret is in/, { log: [taken, line({ text: secretMark })] }],
  [
    'a secret in an event, encoded',
    /^the value of a secret is in/,
    { events: [{ pod: 'p', reason: 'A', message: Buffer.from(secretMark).toString('base64') }] },
  ],
  ['a path of others', /^removeTree: a path is none of the agent: "\/etc"/, touch('/etc')],
  ['a path beside its own', /is none of the agent/, touch('/var/lib/kubelet2/x')],
  ['a path back up', /goes back up/, touch('/var/lib/kubelet/../x')],
  ['a path with a zero', /has a zero byte/, touch('/var/lib/kubelet/a\0')],
  ['a path from nowhere', /is not absolute/, touch('pods')],
  [
    'a hostPath and below',
    undefined,
    {
      touches: [
        { operation: 'a', path: '/srv' },
        { operation: 'a', path: '/srv/x' },
      ],
      ...srv,
    },
  ],
  ['beside a hostPath', /is none of the agent/, { ...touch('/srv2'), ...srv }],
  ['a huge request', /^createContainer: a request of \d+ characters/, container({ args: ['x'.repeat(9 << 20)] })],
  ['a request of many parts', undefined, container({ args: Array.from({ length: 10_000 }, () => 'x') })],
  ['a log path that leads away', /^createContainer: log path goes back up/, container({ logPath: '../0.log' })],
  ['an absolute log path', /^createContainer: log path is absolute/, container({ logPath: '/0.log' })],
  ['a container name with a slash', /^createContainer: name is no name/, container({ metadata: { name: 'a/b' } })],
  [
    'a mount of the node',
    /^createContainer: mount is none of the agent: "\/etc\/shadow"/,
    container({ mounts: [{ hostPath: '/etc/shadow', containerPath: '/x' }] }),
  ],
  [
    'a mount that was asked for',
    undefined,
    { ...container({ mounts: [{ hostPath: '/srv', containerPath: '/x' }] }), ...srv },
  ],
  ['a mount of an image', undefined, container({ mounts: [{ hostPath: '', containerPath: '/x', image: {} }] })],
  [
    'a log directory elsewhere',
    /^runPodSandbox: log directory is none of the agent/,
    sandbox({ logDirectory: '/tmp' }),
  ],
  ['a hostname with a zero', /^runPodSandbox: hostname is no name/, sandbox({ hostname: 'a\0' })],
  ['a uid that leads away', /^runPodSandbox: metadata is no name/, sandbox({ metadata: { uid: '../x' } })],
];

describe('what is wrong with a case is found', () => {
  for (const [what, found, more] of table) {
    test(what, () => {
      const problems = judge({ ...fine, ...more }, { cpuMs: 1_000 });
      if (found === undefined) assert.deepEqual(problems, []);
      else
        assert.ok(
          problems.some((problem) => found.test(problem)),
          problems.join('; '),
        );
    });
  }
});

test('a tree is written in each style, with what no value can say', () => {
  const tree = {
    a: [1, { b: new Raw('!!x y') }, []],
    c: new Pairs([
      ['d', 1],
      ['d', null],
    ]),
    ['__proto__']: { e: {} },
    'f g': Number.NaN,
  };
  assert.equal(
    textOf(tree, 'json'),
    '{"a": [1, {"b": !!x y}, []], "c": {"d": 1, "d": null}, "__proto__": {"e": {}}, "f g": .nan}',
  );
  assert.equal(
    textOf(tree, 'block'),
    'a:\n  - 1\n  -\n    b: !!x y\n  - []\nc:\n  d: 1\n  d: null\n__proto__:\n  e: {}\n"f g": .nan\n',
  );
  assert.equal(JSON.stringify(plainOf(tree)), '{"a":[1,{"b":"!!x y"},[]],"c":{"d":null},"__proto__":{"e":{}},"f g":0}');
});
