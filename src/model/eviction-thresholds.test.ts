import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amountOf, parseShare } from './capacity-share.ts';
import { parseThresholds } from './eviction-thresholds.ts';
import { Quantity } from './quantity.ts';

test('hard and soft thresholds, each with the reclaim of its signal', () => {
  const thresholds = parseThresholds({
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '0%' },
    evictionSoft: { 'memory.available': '10%' },
    evictionSoftGracePeriod: { 'memory.available': '1m30s' },
    evictionMinimumReclaim: { 'memory.available': '5%' },
  });
  const minReclaim = { fraction: Math.fround(0.05) };
  assert.deepEqual(
    thresholds.map(({ value, ...one }) => ({ ...one, value: amountOf(value, Quantity.parse('1Gi')).toString() })),
    [
      { signal: 'memory.available', value: '100Mi', minReclaim },
      { signal: 'memory.available', value: '107374184', graceMs: 90_000, minReclaim },
    ],
  );
});

test('pods together have the hard threshold of memory, where their limit is enforced', () => {
  const texts = { evictionHard: { 'memory.available': '1Gi', 'pid.available': '5%' } };
  const signals = (enforceNodeAllocatable: readonly string[]) =>
    parseThresholds({ ...texts, enforceNodeAllocatable }).map(({ signal }) => signal);
  assert.deepEqual(signals(['pods']), ['memory.available', 'pid.available', 'allocatableMemory.available']);
  assert.deepEqual(signals(['none']), ['memory.available', 'pid.available']);
});

test('what is wrong is said', () => {
  const cases = [
    [{ evictionHard: { 'memory.free': '1' } }, /^unsupported eviction signal memory\.free$/],
    [{ evictionHard: { 'memory.available': '0' } }, /^eviction threshold memory\.available must be positive: 0$/],
    [{ evictionHard: { 'pid.available': '-1%' } }, /must be >= 0%: -1%$/],
    [{ evictionSoft: { 'pid.available': '1' } }, /^grace period must be specified for the soft .* pid\.available$/],
    [{ evictionMinimumReclaim: { 'pid.available': '0%' } }, /minimum reclaim pid\.available must be positive: 0%$/],
    [{ evictionHard: { 'pid.available': 'five%' } }, /^invalid percentage "five%"$/],
  ] as const;
  for (const [config, message] of cases) assert.throws(() => parseThresholds(config), { message });
});

test('a part of what there is has the rounding of 32 bits', () => {
  assert.equal(amountOf(parseShare('10%'), Quantity.parse('8Gi')).value(), 858_993_472n);
  assert.equal(amountOf(parseShare('1%'), Quantity.parse('1000')).value(), 9n);
});
