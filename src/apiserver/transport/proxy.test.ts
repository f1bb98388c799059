import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseProxy, isExcluded } from './proxy.ts';

const server = new URL('https://api.example:6443');

test('the kubeconfig counts before the environment', () => {
  const environment = { HTTPS_PROXY: 'proxy:3128', NO_PROXY: 'other' };
  assert.equal(chooseProxy(server, 'http://mine:1', environment)?.href, 'http://mine:1/');
  assert.equal(chooseProxy(server, undefined, environment)?.href, 'http://proxy:3128/');
  assert.equal(chooseProxy(server, undefined, { https_proxy: 'http://low' })?.href, 'http://low/');
  assert.equal(chooseProxy(server, undefined, { HTTP_PROXY: 'http://x' }), undefined);
  assert.equal(chooseProxy(new URL('https://127.0.0.1:6443'), undefined, environment), undefined);
  assert.equal(chooseProxy(new URL('https://localhost:6443'), undefined, environment), undefined);
  assert.equal(chooseProxy(server, undefined, { ...environment, NO_PROXY: '.example' }), undefined);
});

test('proxies that cannot be used are refused by name', () => {
  assert.throws(() => chooseProxy(server, 'socks5://p', {}), { kind: 'unsupported', message: /proxy-url.*socks5/ });
  assert.throws(
    () => chooseProxy(server, undefined, { HTTPS_PROXY: 'https://u:hunter2@p' }),
    (error: Error) => {
      assert.match(error.message, /HTTPS_PROXY: https proxies are not supported/);
      assert.doesNotMatch(error.message, /hunter2/);
      return true;
    },
  );
  assert.throws(() => chooseProxy(server, 'nonsense', {}), { kind: 'invalid' });
});

const table: readonly (readonly [string, string, boolean])[] = [
  ['api.example', '*', true],
  ['api.example', 'example', true],
  ['api.example', '.example', true],
  ['api.example', '*.example', true],
  ['notexample', 'example', false],
  ['api.example', 'api.example:6443', true],
  ['api.example', 'api.example:443', false],
  ['10.1.2.3', '10.0.0.0/8', true],
  ['11.1.2.3', '10.0.0.0/8', false],
  ['10.1.2.3', '10.0.0.0/99', false],
  ['10.1.2.3', '10.1.2.3', true],
  ['fd00::1', 'fd00::/8', true],
  ['fd00::1', 'fd00::1', true],
  ['api.example', ' , a, API.EXAMPLE ', true],
  ['api.example', '', false],
];
for (const [host, noProxy, expected] of table) {
  test(`NO_PROXY=${noProxy} ${expected ? 'leaves out' : 'does not mean'} ${host}`, () => {
    assert.equal(isExcluded(host, '6443', noProxy), expected);
  });
}
