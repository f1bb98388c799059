import assert from 'node:assert/strict';
import { test } from 'node:test';
import { desiredPod, type DesiredPod } from '../../model/desired-pod.ts';
import { classifyAnswer, initialUrlState, type UrlState } from './classify-answer.ts';
import type { Manifest } from './manifest.ts';

const pod = (name: string): DesiredPod =>
  desiredPod('http', { metadata: { uid: name, name, namespace: 'ns' }, spec: { containers: [] } });

/** A text of names; `!` is a fault. */
let reads = 0;
const read = (text: string): Manifest => {
  reads++;
  const words = text.split(' ').filter((word) => word !== '');
  return {
    pods: words.filter((word) => word !== '!').map(pod),
    objects: [],
    warnings: [],
    faults: words.includes('!') ? [{ message: 'bad' }] : [],
  };
};
const after = (...bodies: readonly string[]): UrlState =>
  bodies.reduce<UrlState>((state, body) => classifyAnswer(state, Buffer.from(body), read), initialUrlState);
const names = (...bodies: readonly string[]): string | undefined =>
  after(...bodies)
    .pods?.map((one) => one.name)
    .join(' ');

test('the set after answers', () => {
  const cases: readonly (readonly [readonly string[], string | undefined])[] = [
    [[], undefined],
    [['a b'], 'a b'],
    [['a', 'b'], 'b'],
    // A list of no pods is an answer, no body is none.
    [['a', ' '], ''],
    [['a', ''], 'a'],
    [['a', '', '', '', ''], 'a'],
    [[''], undefined],
    [['', ''], undefined],
    [['', '', ''], ''],
    [['', '', '!', '', ''], undefined],
    [['', '', '', 'a'], 'a'],
    // Nothing but faults says nothing; beside faults, the good parts count.
    [['!'], undefined],
    [['a', '!'], 'a'],
    [['a !'], 'a'],
    [['a b', 'a !'], 'a b'],
    [['a b', 'c !'], 'c a b'],
    [['a b', 'c !', 'c'], 'c'],
  ];
  for (const [bodies, expected] of cases) assert.equal(names(...bodies), expected, JSON.stringify(bodies));
});

test('the same bytes are not read again and keep the very same set', () => {
  const first = after('a b');
  reads = 0;
  const again = classifyAnswer(first, Buffer.from('a b'), read);
  assert.equal(reads, 0);
  assert.equal(again.pods, first.pods);
  assert.equal(classifyAnswer(classifyAnswer(first, Buffer.of(), read), Buffer.from('a b'), read).pods, first.pods);
});

test('bytes that are no text are a fault', () => {
  const state = classifyAnswer(after('a'), Buffer.of(0xff, 0xfe), read);
  assert.equal(state.pods?.[0]?.name, 'a');
  assert.deepEqual(state.manifest?.faults, [{ message: 'it is not UTF-8 text' }]);
});
