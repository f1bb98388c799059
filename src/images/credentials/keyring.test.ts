import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { Masked } from '../../base/masked.ts';
import { makeCredential, nodeSource } from './credential.ts';
import type { RegistryEntry } from './docker-config.ts';
import { lookup, makeKeyring, withoutRepeats } from './keyring.ts';

const entry = (registry: string, username = registry): RegistryEntry => ({
  registry,
  auth: new Masked({ username, password: 'p' }),
});
const users = (entries: readonly RegistryEntry[], repository: string): string[] =>
  lookup(makeKeyring([{ entries, source: nodeSource }]), repository).map(({ auth }) => auth.reveal().username);

test('the most specific key comes first, a wildcard last', () => {
  const entries = ['*.example.com', 'a.example.com', 'a.example.com/team', 'b.example.com'].map((name) => entry(name));
  const expected = ['a.example.com/team', 'a.example.com', '*.example.com'];
  assert.deepEqual(users(entries, 'a.example.com/team/app'), expected);
  assert.deepEqual(users(entries.toReversed(), 'a.example.com/team/app'), expected);
  assert.deepEqual(users(entries, 'a.example.com/other'), ['a.example.com', '*.example.com']);
  assert.deepEqual(users(entries, 'c.example.org/app'), []);
});

test('several for one key are all tried, in their order', () => {
  assert.deepEqual(users([entry('a.example', 'old'), entry('a.example', 'new')], 'a.example/app'), ['old', 'new']);
});

test('the default registry goes by the name that docker gives it, unless a place matches', () => {
  const docker = entry('index.docker.io', 'docker');
  assert.deepEqual(users([docker], 'docker.io/library/busybox'), ['docker']);
  assert.deepEqual(users([docker, entry('docker.io', 'plain')], 'docker.io/library/busybox'), ['plain']);
  assert.deepEqual(users([docker], 'example.com/app'), []);
});

test('the hash is that of JSON as Go writes it, and does not depend on where a credential came from', () => {
  const auth = new Masked({ username: 'u<&>', password: 'p', email: '' });
  const json = String.raw`{"username":"u\u003c\u0026\u003e","password":"p"}`;
  const expected = createHash('sha256').update(json).digest('hex');
  const secret = { kind: 'secret', uid: '1', namespace: 'ns', name: 'a' } as const;
  for (const source of [nodeSource, secret]) assert.equal(makeCredential(auth, source).hash.reveal(), expected);
  assert.doesNotMatch(inspect(makeCredential(auth, secret), { depth: 9, showHidden: true }), /u<&>|[0-9a-f]{64}/);
});

test('one credential is tried once, for the first who had it', () => {
  const auth = new Masked({ username: 'u', password: 'p' });
  const secret = { kind: 'secret', uid: '1', namespace: 'ns', name: 'a' } as const;
  const kept = withoutRepeats([makeCredential(auth, secret), makeCredential(auth, nodeSource)]);
  assert.deepEqual(
    kept.map(({ source }) => source),
    [secret],
  );
});
