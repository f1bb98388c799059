import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TubeletError } from '../base/errors.ts';
import { amountOf, parseShare } from './capacity-share.ts';
import { evictionSignals, parseThresholds } from './eviction-thresholds.ts';
import { parseQosReserved } from './qos-reserved.ts';
import { Quantity } from './quantity.ts';

/** What comes close to amounts, and anything else. */
const text = fc.oneof(fc.string(), fc.stringMatching(/^[+-]?[0-9]{0,4}\.?[0-9]{0,3}([eE][+-]?[0-9]{1,2})?(%|Mi|m)?$/));

function readsOrRefuses(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    assert.ok(error instanceof TubeletError && error.kind === 'invalid', String(error));
  }
}

test('a configuration is read or refused, whatever is in it', () => {
  const texts = fc.dictionary(fc.oneof(fc.constantFrom(...evictionSignals), fc.string()), text, { maxKeys: 3 });
  fc.assert(
    fc.property(texts, texts, texts, texts, (evictionHard, evictionSoft, evictionSoftGracePeriod, reclaim) =>
      readsOrRefuses(() =>
        parseThresholds({ evictionHard, evictionSoft, evictionSoftGracePeriod, evictionMinimumReclaim: reclaim }),
      ),
    ),
  );
});

test('a threshold that is read is part of what there is, and more than nothing where it is an amount', () => {
  fc.assert(
    fc.property(text, fc.bigInt({ min: 0n, max: 1n << 50n }), (value, bytes) =>
      readsOrRefuses(() => {
        for (const { value: share } of parseThresholds({ evictionHard: { 'memory.available': value } })) {
          const amount = amountOf(share, Quantity.ofValue(bytes));
          if ('quantity' in share) assert.equal(amount.sign(), 1);
          else assert.ok(amount.sign() >= 0 && amount.value() <= bytes);
        }
      }),
    ),
  );
});

test('a whole percentage means the same in every notation', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 100 }), (percent) => {
      assert.deepEqual(parseShare(`${percent}%`), parseShare(`+${percent}.0%%`));
      assert.equal(parseQosReserved({ memory: `${percent}%` }), BigInt(percent));
    }),
  );
});

test('qosReserved is read or refused', () => {
  fc.assert(fc.property(text, (memory) => readsOrRefuses(() => parseQosReserved({ memory }))));
});
