import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigMap, Secret } from '../../gen/kubernetes/types.ts';
import { validateConfigMap, validateSecret } from './data-objects.ts';

const metadata = { name: 'o', namespace: 'ns' };
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const mebi = 1024 * 1024;

test('config maps', () => {
  const cases: readonly (readonly [ConfigMap, readonly string[]])[] = [
    [{ metadata }, []],
    [{ metadata, data: { 'a.b_c-D9': 'x', '.hidden': '' }, binaryData: { b: '' } }, []],
    [{ metadata: { name: 'Big', namespace: 'ns' } }, ['metadata.name: Invalid value: "Big"']],
    [{ metadata: { namespace: 'ns' } }, ['metadata.name: Required value']],
    [{ metadata, data: { 'a/b': '' } }, ['data[a/b]: Invalid value: "a/b"']],
    [{ metadata, data: { '': '' } }, ['data[]: Invalid value: ""']],
    [{ metadata, data: { '..': '' } }, ['data[..]: Invalid value: ".."']],
    [{ metadata, binaryData: { '..x': '' } }, ['binaryData[..x]: Invalid value: "..x"']],
    [{ metadata, data: { ['k'.repeat(253)]: '' } }, []],
    [{ metadata, data: { ['k'.repeat(254)]: '' } }, [`data[${'k'.repeat(253)}…]: Invalid value: `]],
    [
      { metadata, data: { a: '' }, binaryData: { a: '' } },
      ['data[a]: Invalid value: "a": duplicate of key present in'],
    ],
    [{ metadata, data: { a: 'x'.repeat(mebi) } }, []],
    [{ metadata, data: { a: 'x'.repeat(mebi - 1), b: 'ü' } }, ['data: Invalid value: "1048577 bytes"']],
    [{ metadata, data: { a: 'x'.repeat(mebi) }, binaryData: { b: base64('y') } }, ['data: Invalid value: "1048577 b']],
  ];
  for (const [object, expected] of cases) check(validateConfigMap(object), expected);
});

test('secrets', () => {
  const typed = (type: string, data: Readonly<Record<string, string>>): Secret => ({
    metadata,
    type: `kubernetes.io/${type}`,
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)])),
  });
  const cases: readonly (readonly [Secret, readonly string[]])[] = [
    [{ metadata }, []],
    [{ metadata, type: 'example.com/own', data: { a: '' } }, []],
    [{ metadata, stringData: { 'a b': 'hunter2' } }, ['stringData[a b]: Invalid value: "a b"']],
    [{ metadata, data: { 'a b': 'aHVudGVyMg==' } }, ['data[a b]: Invalid value: "a b"']],
    [{ metadata, stringData: { a: 'x'.repeat(mebi + 1) } }, ['data: Invalid value: "1048577 bytes"']],
    // What a text replaces does not count.
    [{ metadata, data: { a: base64('x'.repeat(mebi)) }, stringData: { a: 'x' } }, []],
    [typed('tls', { 'tls.crt': 'c' }), ['data[tls.key]: Required value']],
    [typed('tls', { 'tls.crt': 'c', 'tls.key': '' }), []],
    [typed('ssh-auth', { 'ssh-privatekey': '' }), ['data[ssh-privatekey]: Required value']],
    [typed('basic-auth', {}), ['data[username]: Required value', 'data[password]: Required value']],
    [typed('basic-auth', { password: '' }), []],
    [typed('dockerconfigjson', {}), ['data[.dockerconfigjson]: Required value']],
    [typed('dockerconfigjson', { '.dockerconfigjson': '{"auths":{}}' }), []],
    [
      typed('dockerconfigjson', { '.dockerconfigjson': 'hunter2' }),
      ['data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": must be a JSON object'],
    ],
    [typed('dockercfg', { '.dockercfg': '[]' }), ['data[.dockercfg]: Invalid value: "<secret contents redacted>"']],
    [typed('service-account-token', {}), ['metadata.annotations[kubernetes.io/service-account.name]: Required value']],
  ];
  for (const [object, expected] of cases) check(validateSecret(object), expected);
});

function check(faults: readonly { readonly message: string }[], expected: readonly string[]): void {
  const messages = faults.map(({ message }) => message);
  assert.equal(messages.length, expected.length, messages.join('\n'));
  for (const [index, text] of expected.entries()) assert.equal(messages[index]?.slice(0, text.length), text);
  for (const message of messages) assert.ok(!message.includes('hunter2'), message);
}
