import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HTTPGetAction, HTTPHeader } from '../../../gen/kubernetes/types.ts';
import { aContainer } from '../../../testing/pods.ts';
import { httpProbeRequest, redirectOf, sameHost, type HttpProbeRequest } from './http-request.ts';

const container = aContainer('main', { ports: [{ name: 'web', containerPort: 8080 }] });

function made(action: Partial<HTTPGetAction>, podIp = '10.0.0.2'): HttpProbeRequest {
  const request = httpProbeRequest({ port: 80, ...action }, container, podIp);
  assert.ok(!('error' in request));
  return request;
}

const urls: readonly (readonly [Partial<HTTPGetAction>, string, string])[] = [
  [{ path: '/' }, 'http://10.0.0.2:80/', '/'],
  [{}, 'http://10.0.0.2:80', '/'],
  [{ path: 'healthz' }, 'http://10.0.0.2:80/healthz', '/healthz'],
  [{ path: '/a?b=c&d' }, 'http://10.0.0.2:80/a?b=c&d', '/a?b=c&d'],
  [{ path: '?b=c' }, 'http://10.0.0.2:80?b=c', '/?b=c'],
  [{ path: '/a#b' }, 'http://10.0.0.2:80/a', '/a'],
  [{ path: '/a b/é' }, 'http://10.0.0.2:80/a%20b/%C3%A9', '/a%20b/%C3%A9'],
  [{ path: '/a%20b' }, 'http://10.0.0.2:80/a%20b', '/a%20b'],
  [{ path: '/100%?x' }, 'http://10.0.0.2:80/100%25%3Fx', '/100%25%3Fx'],
  [{ path: '/a/../b' }, 'http://10.0.0.2:80/a/../b', '/a/../b'],
  [{ path: 'http://other:99/x' }, 'http://10.0.0.2:80/x', '/x'],
  [{ path: '//other/x' }, 'http://10.0.0.2:80/x', '/x'],
  [{ path: '/', scheme: 'HTTPS', port: 'web' }, 'https://10.0.0.2:8080/', '/'],
  [{ path: '/', host: 'example.com' }, 'http://example.com:80/', '/'],
  [{ path: '/', host: 'fd00::2' }, 'http://[fd00::2]:80/', '/'],
];

for (const [action, url, target] of urls) {
  test(`request of ${JSON.stringify(action)}`, () => {
    const { hop } = made(action);
    assert.deepEqual([hop.url, hop.target], [url, target]);
  });
}

test('a port that is not there is an error', () => {
  assert.deepEqual(httpProbeRequest({ port: 'admin' }, container, '10.0.0.2'), {
    error: 'strconv.Atoi: parsing "admin": invalid syntax',
  });
  assert.deepEqual(httpProbeRequest({ port: 70_000 }, container, '10.0.0.2'), { error: 'invalid port number: 70000' });
});

function headersOf(...httpHeaders: readonly HTTPHeader[]): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(made({ httpHeaders }).headers);
}

test('headers: what is sent without being asked for', () => {
  assert.deepEqual(headersOf(), { 'User-Agent': ['kube-probe/1.34'], Accept: ['*/*'], Connection: ['close'] });
});

test('headers: own ones are added, and repeated ones sent as often', () => {
  const { 'X-Own': own, Cookie } = headersOf(
    { name: 'x-own', value: 'one' },
    { name: 'X-OWN', value: 'two' },
    { name: 'cookie', value: 'c' },
  );
  assert.deepEqual([own, Cookie], [['one', 'two'], ['c']]);
});

test('headers: user agent and accept can be replaced, and left out by an empty value', () => {
  const replaced = headersOf({ name: 'user-agent', value: 'me' }, { name: 'accept', value: 'text/plain' });
  assert.deepEqual([replaced['User-Agent'], replaced['Accept']], [['me'], ['text/plain']]);
  const empty = headersOf({ name: 'User-Agent', value: '' }, { name: 'Accept', value: '' });
  assert.deepEqual(empty, { Connection: ['close'] });
});

test('headers: a host is taken over, once; what describes a body is not', () => {
  const headers = headersOf(
    { name: 'Host', value: 'a.example' },
    { name: 'host', value: 'b.example' },
    { name: 'Content-Length', value: '9' },
  );
  assert.deepEqual(headers['Host'], ['a.example']);
  assert.equal(headers['Content-Length'], undefined);
});

const { hop: from } = made({ path: '/a/b' });
const redirects: readonly (readonly [number, string | undefined, string])[] = [
  [200, '/x', 'none'],
  [304, '/x', 'none'],
  [302, undefined, 'none'],
  [302, '', 'none'],
  [301, '/x?y', 'to http://10.0.0.2:80/x?y (relative, same host)'],
  [307, 'x', 'to http://10.0.0.2:80/a/x (relative, same host)'],
  [308, 'http://10.0.0.2:9090/x', 'to http://10.0.0.2:9090/x (same host)'],
  [303, 'https://10.0.0.2/x', 'to https://10.0.0.2/x (same host)'],
  [302, '//other.example/x', 'to http://other.example/x'],
  [302, 'http://10.0.0.3/', 'to http://10.0.0.3/'],
  [302, 'http://[', 'broken: failed to parse Location header "http://["'],
  [302, 'ftp://10.0.0.2/', 'broken: unsupported protocol scheme "ftp"'],
];

for (const [status, location, expected] of redirects) {
  test(`redirect ${status} to ${location}`, () => {
    const redirect = redirectOf(from, status, location);
    if (redirect.kind === 'none') assert.equal('none', expected);
    else if (redirect.kind === 'broken') assert.equal(`broken: ${redirect.reason}`, expected);
    else {
      const notes = [redirect.relative && 'relative', sameHost(from, redirect.hop) && 'same host'].filter(Boolean);
      assert.equal(`to ${redirect.hop.url}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`, expected);
    }
  });
}

test('the same host is the same in capitals', () => {
  const { hop } = made({ host: 'Example.com' });
  const redirect = redirectOf(hop, 302, 'http://example.COM:8080/');
  assert.ok(redirect.kind === 'to');
  assert.equal(sameHost(hop, redirect.hop), true);
  assert.equal(redirect.hop.port, 8080);
});
