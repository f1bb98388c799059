import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Masked } from '../../base/masked.ts';
import { decodeResponse, encodeRequest } from './plugin-protocol.ts';

const apiVersion = 'credentialprovider.kubelet.k8s.io/v1';
const answer = {
  kind: 'CredentialProviderResponse',
  apiVersion,
  cacheKeyType: 'Registry',
  cacheDuration: '1h',
  auth: { '*.a.example': { username: 'u', password: 'hunter2' } },
};
const decode = (more: object) => decodeResponse(apiVersion, JSON.stringify({ ...answer, ...more }));

test('a request is one line of JSON', () => {
  assert.equal(
    encodeRequest(apiVersion, { image: 'a.example/app' }).reveal(),
    `{"kind":"CredentialProviderRequest","apiVersion":"${apiVersion}","image":"a.example/app"}\n`,
  );
  const account = { token: new Masked('t0ken'), annotations: { role: 'r' } };
  const request = encodeRequest(apiVersion, { image: 'a.example/app', account });
  assert.match(request.reveal(), /,"serviceAccountToken":"t0ken","serviceAccountAnnotations":\{"role":"r"\}\}\n$/);
  assert.doesNotMatch(String(request), /t0ken/);
});

test('an answer says for what, for how long, and with what', () => {
  const { scope, cacheMs, entries } = decode({});
  assert.deepEqual([scope, cacheMs], ['Registry', 3_600_000]);
  assert.deepEqual(
    entries.map(({ registry, auth }) => [registry, auth.reveal()]),
    [['*.a.example', { username: 'u', password: 'hunter2' }]],
  );
  assert.equal(decode({ cacheDuration: undefined }).cacheMs, undefined);
  assert.equal(decode({ cacheDuration: null }).cacheMs, undefined);
  assert.equal(decode({ cacheDuration: '0s' }).cacheMs, 0);
  assert.deepEqual(decode({ auth: null }).entries, []);
});

test('an answer that cannot be used is refused without quoting its values', () => {
  const table: readonly (readonly [object, RegExp])[] = [
    [{ apiVersion: `${apiVersion}beta1` }, /its apiVersion is not /],
    [{ kind: 'Secret' }, /its kind is not /],
    [{ cacheKeyType: 'hunter2' }, /its cacheKeyType is none of /],
    [{ cacheKeyType: undefined }, /its cacheKeyType is none of /],
    [{ cacheDuration: 'hunter2' }, /its cacheDuration is no duration/],
    [{ cacheDuration: 12 }, /its cacheDuration is no duration/],
    [{ auth: 'hunter2' }, /its auth is not a JSON object/],
    [{ auth: { 'a.example': 'hunter2' } }, /its auth for a\.example is not a JSON object/],
    [{ auth: { 'a.example': { username: 'u', password: 5 } } }, /password that is not text/],
    [{ auth: { 'hunter2 x': {} } }, /an entry for what is no registry/],
  ];
  const refuses = (work: () => unknown, pattern: RegExp): void =>
    assert.throws(work, (error: Error) => {
      assert.match(error.message, pattern);
      assert.doesNotMatch(error.message, /hunter2/);
      return true;
    });
  for (const [more, pattern] of table) refuses(() => decode(more), pattern);
  for (const text of ['', 'hunter2', '["hunter2"]', 'null']) {
    refuses(() => decodeResponse(apiVersion, text), /cannot be used: it is not/);
  }
});
