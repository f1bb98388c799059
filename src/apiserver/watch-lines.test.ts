import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { decodeEvent, watchEvents } from './watch-events.ts';
import { LineSplitter } from './watch-lines.ts';

describe('lines', () => {
  test('come out whole, however they were cut', () => {
    const line = fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\n', ''));
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(20)), (lines, cuts) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''), 'utf8');
        const splitter = new LineSplitter();
        const found: string[] = [];
        let from = 0;
        for (const cut of cuts) {
          found.push(...splitter.push(bytes.subarray(from, from + cut)));
          from += cut;
        }
        found.push(...splitter.push(bytes.subarray(from)));
        assert.deepEqual(found, bytes.toString('utf8').split('\n').slice(0, -1));
        assert.equal(splitter.pending, 0);
      }),
    );
  });

  test('have a limit, whether their end has come or not', () => {
    const splitter = new LineSplitter(4);
    assert.deepEqual(splitter.push(Buffer.from('1234\n12')), ['1234']);
    assert.throws(() => splitter.push(Buffer.from('345\n')), { kind: 'invalid' });
    assert.throws(() => new LineSplitter(4).push(Buffer.from('12345')), { kind: 'invalid' });
  });
});

describe('watch events', () => {
  const garbage = [
    'no json',
    '[]',
    '7',
    '{"type":"ADDED"}',
    '{"type":"ADDED","object":{"metadata":{"name":"a"}}}',
    '{"type":"ADDED","object":{"metadata":{"resourceVersion":"1"}}}',
    '{"type":"MOVED","object":{"metadata":{"name":"a","resourceVersion":"1"}}}',
    '{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":""}}}',
  ];
  for (const line of garbage)
    test(`${line} is not an event`, () => assert.throws(() => decodeEvent(line), { kind: 'invalid' }));

  test('a line cut off at the end is not an event', async () => {
    const event = '{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"1"}}}';
    const batches: unknown[] = [];
    const body = (async function* () {
      yield Buffer.from(`${event}\n\n${event.slice(0, 9)}`);
      yield Buffer.from(event.slice(9, 20));
    })();
    for await (const batch of watchEvents(body)) batches.push(batch);
    assert.deepEqual(batches, [[JSON.parse(event)], []]);
  });
});
