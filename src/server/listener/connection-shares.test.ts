import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionShares, type ConnectionStage } from './connection-shares.ts';

function shares(...connections: readonly (readonly [string, ConnectionStage, string])[]) {
  const all = new ConnectionShares<string>({ inAll: 6, each: 3 });
  for (const [address, stage, name] of connections) all.add(address, stage, name);
  return all;
}

test('who has to go', () => {
  const ofAddress = 'too many connections of its address';
  const inAll = 'too many connections in all';
  const table: readonly (readonly [string, ReturnType<typeof shares>, string | undefined, string?])[] = [
    ['none', shares(), undefined],
    ['none where there is room', shares(['a', 'silent', 'a1'], ['a', 'asked', 'a2'], ['b', 'silent', 'b1']), undefined],
    [
      'the oldest of an address with too many',
      shares(['a', 'silent', 'a1'], ['b', 'silent', 'b1'], ...many('b', 'silent', 3)),
      'b1',
      ofAddress,
    ],
    [
      'of the stage that is fullest: silent ones do not push out one in its handshake',
      shares(['a', 'speaking', 'good'], ...many('a', 'silent', 3)),
      'a-silent-0',
      ofAddress,
    ],
    [
      'nor do handshakes push out one that asked',
      shares(['a', 'asked', 'good'], ['a', 'silent', 'x'], ...many('a', 'speaking', 2)),
      'a-speaking-0',
      ofAddress,
    ],
    [
      'of equally full ones the earlier',
      shares(['a', 'asked', 'x'], ['a', 'asked', 'y'], ...many('a', 'silent', 2)),
      'a-silent-0',
      ofAddress,
    ],
    [
      'of the address with the most when there are too many in all',
      shares(['a', 'silent', 'a1'], ['b', 'silent', 'b1'], ['b', 'silent', 'b2'], ...many('c', 'silent', 3), [
        'd',
        'asked',
        'd',
      ]),
      'c-silent-0',
      inAll,
    ],
    [
      'of the first address when all have one',
      shares(...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => [name, 'silent', name] as const)),
      'a',
      inAll,
    ],
  ];
  for (const [what, all, connection, reason] of table)
    assert.deepEqual(all.excess(), connection === undefined ? undefined : { connection, reason }, what);
});

test('a connection that goes on to the next stage is the newest there; one that left is unknown', () => {
  const all = shares(['a', 'asked', 'old'], ['a', 'asked', 'older'], ['a', 'silent', 'moves']);
  all.move('a', 'moves', 'asked');
  all.add('a', 'asked', 'new');
  assert.equal(all.excess()?.connection, 'old');
  assert.equal(all.remove('a', 'old'), true);
  assert.equal(all.remove('a', 'old'), false);
  all.move('a', 'old', 'asked');
  assert.deepEqual([all.size, all.excess()], [3, undefined]);
});

function many(address: string, stage: ConnectionStage, count: number) {
  return Array.from({ length: count }, (_, n) => [address, stage, `${address}-${stage}-${n}`] as const);
}
