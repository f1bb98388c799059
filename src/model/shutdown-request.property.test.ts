import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseAnswer, parseRequest } from './shutdown-request.ts';

const end = fc.constantFrom('done', 'incomplete', 'calledOff');
const anything = fc.oneof(
  fc.string(),
  fc.json(),
  fc.jsonValue().map((value) => JSON.stringify({ id: value, lines: value })),
);

test('requests and answers are read as they were written', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.string(), fc.array(fc.string()), end, (id, bootId, lines, ended) => {
      assert.deepEqual(parseRequest(JSON.stringify({ id, bootId })), { id, bootId });
      assert.deepEqual(parseAnswer(JSON.stringify({ id, lines })), { id, lines });
      assert.deepEqual(parseAnswer(JSON.stringify({ id, lines, end: ended })), { id, lines, end: ended });
    }),
  );
});

test('nothing else is taken for one, and nothing throws', () => {
  fc.assert(
    fc.property(anything, (text) => {
      const request = parseRequest(text);
      assert.ok(request === undefined || (typeof request.id === 'string' && typeof request.bootId === 'string'));
      const answer = parseAnswer(text);
      assert.ok(answer === undefined || answer.lines.every((line) => typeof line === 'string'));
    }),
  );
  assert.equal(parseRequest(JSON.stringify({ id: '', bootId: 'b' })), undefined);
  assert.equal(parseAnswer(JSON.stringify({ id: 'a', lines: [], end: 'soon' })), undefined);
});
