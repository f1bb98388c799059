import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import { splitCredentials } from './credentials.ts';

const protocol = (token: string): string =>
  `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`;
const socket = { connection: 'keep-alive, Upgrade', upgrade: 'WebSocket' };
const address = '10.0.0.1';
const split = (headers: IncomingHttpHeaders, chain: readonly Buffer[] = []) =>
  splitCredentials(headers, { address, chain, tlsVerdict: 'ok' });

const bearers: readonly (readonly [authorization: string, token: string | undefined])[] = [
  ['Bearer abc', 'abc'],
  ['bearer abc', 'abc'],
  ['BEARER  abc', undefined],
  ['Bearer abc def', 'abc'],
  ['Bearer', undefined],
  ['Bearer ', undefined],
  ['Basic YTpi', undefined],
  ['', undefined],
];
for (const [authorization, token] of bearers) {
  test(`authorization ${JSON.stringify(authorization)}`, () => {
    assert.deepEqual(split({ authorization, accept: '*/*' }), {
      credentials: { address, bearer: token },
      headers: { accept: '*/*' },
    });
  });
}

test('a token as a protocol of a websocket is taken out, the others stay', () => {
  const offered = `v5.channel.k8s.io, ${protocol('tök.en')},v4.channel.k8s.io`;
  assert.deepEqual(split({ ...socket, 'sec-websocket-protocol': offered }), {
    credentials: { address, bearer: 'tök.en' },
    headers: { ...socket, 'sec-websocket-protocol': 'v5.channel.k8s.io, v4.channel.k8s.io' },
  });
});

test('the header counts before the protocol, which is taken out all the same', () => {
  const offered = `a, ${protocol('two')}`;
  assert.deepEqual(split({ ...socket, authorization: 'Bearer one', 'sec-websocket-protocol': offered }), {
    credentials: { address, bearer: 'one' },
    headers: { ...socket, 'sec-websocket-protocol': 'a' },
  });
});

test('what is no websocket has no protocols, but no token gets through either', () => {
  for (const offered of [`a, ${protocol('x')}`, protocol('x')]) {
    const { credentials, headers } = split({ 'sec-websocket-protocol': offered });
    assert.deepEqual(credentials, { address, bearer: undefined });
    assert.ok(!JSON.stringify(headers).includes('bearer'));
  }
});

test('tokens that cannot be read', () => {
  const prefix = 'base64url.bearer.authorization.k8s.io.';
  const bad = [
    protocol('alone'),
    `a, ${protocol('x')}, ${protocol('y')}`,
    `a, ${prefix}`,
    `a, ${prefix}a`,
    `a, ${prefix}eA==`,
    `a, ${prefix}e+/x`,
    `a, ${prefix}_w`,
  ];
  for (const offered of bad) {
    const { credentials, headers } = split({ ...socket, 'sec-websocket-protocol': offered });
    assert.equal(credentials, 'bad', offered);
    assert.ok(!JSON.stringify(headers).includes(prefix), offered);
  }
});

test('certificates are shown along', () => {
  const chain = [Buffer.from('leaf')];
  assert.deepEqual(split({}, chain).credentials, { address, chain, tlsVerdict: 'ok', bearer: undefined });
  assert.ok(!('chain' in (split({}).credentials as object)));
});
