import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer } from '../../testing/pods.ts';
import { computeHookRequest } from './compute-hook-request.ts';

const container = aContainer('web', { ports: [{ name: 'http', containerPort: 8080 }] });
const request = (httpGet: object, podIp = '10.0.0.7'): unknown =>
  computeHookRequest({ handler: { httpGet: { port: 80, ...httpGet } }, container, podIp });

test('the pod is asked, by number or by name of the port', () => {
  const headers = [
    ['User-Agent', 'kube-lifecycle/1.34'],
    ['Accept', '*/*'],
  ];
  assert.deepEqual(request({}), { url: 'http://10.0.0.7:80/', headers });
  assert.deepEqual(request({ port: 'http', path: 'bye' }), { url: 'http://10.0.0.7:8080/bye', headers });
  assert.deepEqual(request({ host: 'fd00::1', scheme: 'HTTPS', path: '/x' }), {
    url: 'https://[fd00::1]:80/x',
    headers,
  });
});

test('given headers stand, an empty Accept takes it away', () => {
  const httpHeaders = [
    { name: 'user-agent', value: 'me' },
    { name: 'Accept', value: '' },
    { name: 'X-A', value: '1' },
  ];
  assert.deepEqual(request({ httpHeaders }), {
    url: 'http://10.0.0.7:80/',
    headers: [
      ['user-agent', 'me'],
      ['X-A', '1'],
    ],
  });
});

test('what is missing is reported', () => {
  assert.deepEqual(request({ port: 'nope' }), { problem: 'the container has no port "nope"' });
  assert.deepEqual(request({}, ''), { problem: 'failed to find networking container: the pod has no address' });
});

// A hook that throws fails what is done with its container.
test('what makes no address is a problem of the hook', () => {
  assert.deepEqual(request({ scheme: 'FTP' }), { problem: 'unsupported protocol scheme "ftp"' });
  assert.deepEqual(request({ scheme: '..x' }), { problem: 'unsupported protocol scheme "..x"' });
  for (const host of ['a b', 'a:b:c', '[::1', 'a%zz', '#', '?x']) {
    const answer = request({ host }) as { readonly problem?: string };
    assert.match(answer.problem ?? '', /^invalid URL "http:\/\//, host);
  }
  const long = request({ host: `a ${'b'.repeat(100_000)}`, scheme: 'HTTP' }) as { readonly problem: string };
  assert.ok(long.problem.length < 2_000);
  assert.ok((request({ scheme: 'x'.repeat(100_000) }) as { readonly problem: string }).problem.length < 2_000);
});
