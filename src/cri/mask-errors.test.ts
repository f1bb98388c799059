import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kindOf, TubeletError, remoteMessageOf } from '../base/errors.ts';
import {
  ContainerStatusResponse,
  CreateContainerRequest,
  ExecSyncRequest,
  PullImageRequest,
  StartContainerRequest,
} from '../gen/cri/api.ts';
import type { Invocation, Invoke } from './invoke.ts';
import { secretsOfContainer, withMaskedErrors } from './mask-errors.ts';
import type { UnaryVerb } from './verbs.ts';

const hook = JSON.stringify({ httpGet: { httpHeaders: [{ name: 'X', value: 'in "a" header' }] } });
const creation = CreateContainerRequest.fromPartial({
  config: {
    image: { image: 'registry.example/app:1' },
    command: ['/usr/bin/server', '--password=open-sesame'],
    workingDir: '/var/lib/app',
    mounts: [{ containerPath: '/data/of-the-app', hostPath: '/var/lib/kubelet/pods/u' }],
    labels: { 'io.kubernetes.pod.name': 'web-frontend' },
    annotations: { 'io.kubernetes.container.preStopHandler': hook },
    envs: [
      { key: 'PASSWORD', value: Buffer.from('open-sesame') },
      { key: 'KEY', value: Buffer.from('line one\nline two') },
      { key: 'DEBUG', value: Buffer.from('true') },
      { key: 'DATA', value: Buffer.from('/data/of-the-app') },
      { key: 'BINARIES', value: Buffer.from('/usr/bin') },
      { key: 'POD', value: Buffer.from('web-frontend') },
    ],
  },
});

test('values are secret unless they are short, or a path or a name that errors are about', () => {
  assert.deepEqual(secretsOfContainer(creation), [
    'line one\\nline two',
    'line one\nline two',
    'in \\"a\\" header',
    'in "a" header',
    'open-sesame',
  ]);
});

function failing(verb: UnaryVerb, request: unknown, message: string, invoke?: Invoke) {
  const fail: Invoke = async () => {
    throw new TubeletError('denied', `${verb}: ${message}`, {
      remoteMessage: message,
      code: 'Unknown',
      cause: new Error(message),
    });
  };
  const call = withMaskedErrors(invoke ?? fail);
  return call({ verb, request, traits: {}, options: {} } as Invocation<unknown, unknown>).then(
    () => assert.fail('it did not fail'),
    (error: unknown) => error as TubeletError,
  );
}

const echoes: readonly (readonly [UnaryVerb, unknown, string, string])[] = [
  [
    'createContainer',
    creation,
    'exec: "/usr/bin/server": env PASSWORD=open-sesame KEY="line one\\nline two" DEBUG=true',
    'exec: "/usr/bin/server": env PASSWORD=<masked> KEY="<masked>" DEBUG=true',
  ],
  [
    'execSync',
    ExecSyncRequest.fromPartial({ cmd: ['/bin/check', '--token=abcdefgh', '-v'] }),
    'cannot run [/bin/check --token=abcdefgh -v]',
    'cannot run [/bin/check <masked> -v]',
  ],
  [
    'pullImage',
    PullImageRequest.fromPartial({ auth: { username: 'ann', password: 'open-sesame' } }),
    `denied for ann:open-sesame (Basic ${Buffer.from('ann:open-sesame').toString('base64')})`,
    'denied for ann:<masked> (Basic <masked>)',
  ],
];
for (const [verb, request, message, masked] of echoes) {
  test(`what ${verb} was given does not come back in its error`, async () => {
    const error = await failing(verb, request, message);
    assert.deepEqual([kindOf(error), remoteMessageOf(error), error.code], ['denied', masked, 'Unknown']);
    assert.equal(error.message, `${verb}: ${masked}`);
    assert.equal(error.cause, undefined);
  });
}

test('an error without secrets stays the same', async () => {
  const error = await failing('createContainer', creation, 'no such image');
  assert.equal(error.message, 'createContainer: no such image');
  assert.ok(error.cause instanceof Error);
});

test('a container is remembered until it runs: its start and its status are masked as well', async () => {
  let starts = 0;
  const invoke: Invoke = async ({ verb }) => {
    if (verb === 'createContainer') return { containerId: 'c1' } as never;
    if (verb === 'containerStatus')
      return ContainerStatusResponse.fromPartial({ status: { id: 'c1', message: 'with open-sesame' } }) as never;
    if (starts++ === 0) throw new TubeletError('internal', 'cannot start with open-sesame');
    return {} as never;
  };
  const call = withMaskedErrors(invoke);
  const run = (verb: UnaryVerb, request: unknown) =>
    call({ verb, request, traits: {}, options: {} } as unknown as Invocation<unknown, unknown>);
  const status = async () => ((await run('containerStatus', {})) as ContainerStatusResponse).status?.message;
  const start = StartContainerRequest.fromPartial({ containerId: 'c1' });
  await run('createContainer', creation);
  await assert.rejects(run('startContainer', start), /^TubeletError: cannot start with <masked>$/);
  assert.equal(await status(), 'with <masked>');
  await run('startContainer', start);
  assert.equal(await status(), 'with open-sesame');
});
