import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ListSplitter } from './list-splitter.ts';

const metadata = { resourceVersion: '7' };

test('any list comes out as it went in, however it is cut', () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true });
  fc.assert(
    fc.property(fc.array(object), object, fc.nat({ max: 50 }), (items, more, bytes) => {
      const { items: _, ...rest } = more;
      const shell = { ...rest, items: [], metadata };
      const text = JSON.stringify({ ...shell, items });
      const splitter = new ListSplitter(100_000);
      const whole = Buffer.from(text);
      const found: unknown[] = [];
      for (let at = 0; at < whole.length; at += bytes + 1) {
        for (const item of splitter.push(whole.subarray(at, at + bytes + 1))) {
          found.push(JSON.parse(Buffer.from(item).toString('utf8')));
        }
      }
      assert.equal(JSON.stringify(found), JSON.stringify(items));
      assert.equal(splitter.shell(), JSON.stringify(shell));
    }),
  );
});
