import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gateSpec, knownGates, resolveGates } from './gates.ts';
import { agentGates } from './table.ts';

const valueOf = (wanted: Record<string, boolean>, name: keyof typeof agentGates): boolean =>
  resolveGates(wanted).gates.enabled(name);

test('the gates of 1.34 are all known', () => {
  assert.equal(Object.keys(agentGates).length, 102);
  assert.equal(knownGates.length, 2 + 102 + 104);
  assert.equal(new Set(knownGates).size, knownGates.length);
});

test('defaults, requests, and switches of a whole stage', () => {
  const table: readonly (readonly [Record<string, boolean>, keyof typeof agentGates, boolean])[] = [
    [{}, 'EventedPLEG', false],
    [{}, 'NodeSwap', true],
    [{}, 'NodeLogQuery', false],
    [{ EventedPLEG: true }, 'EventedPLEG', true],
    [{ AllAlpha: true }, 'EventedPLEG', true],
    [{ AllAlpha: true }, 'NodeLogQuery', false],
    [{ EventedPLEG: false, AllAlpha: true }, 'EventedPLEG', false],
    [{ AllAlpha: true, EventedPLEG: false }, 'EventedPLEG', false],
    [{ AllBeta: false }, 'KubeletPSI', false],
    [{ AllBeta: true }, 'NodeLogQuery', true],
    [{ AllBeta: false, KubeletPSI: true }, 'KubeletPSI', true],
    [{ AllBeta: false, AllAlpha: false }, 'NodeSwap', true],
    [{ NodeSwap: true }, 'NodeSwap', true],
    [{ DynamicResourceAllocation: false }, 'DynamicResourceAllocation', false],
  ];
  for (const [wanted, name, expected] of table)
    assert.equal(valueOf(wanted, name), expected, JSON.stringify([wanted, name]));
});

test('locked and unknown gates are refused', () => {
  const { faults, gates } = resolveGates({ NodeSwap: false, EventedPlegg: true, Zebra: true, HPAScaleToZero: true });
  assert.deepEqual(
    faults.map(({ field, message }) => `${field}: ${message}`),
    [
      'featureGates.NodeSwap: this gate is locked to true and cannot be false; remove it',
      'featureGates.EventedPlegg: unknown feature gate, did you mean EventedPLEG?',
      'featureGates.Zebra: unknown feature gate; remove it',
    ],
  );
  assert.equal(gates.enabled('NodeSwap'), true);
  assert.equal(gates.all['HPAScaleToZero'], true);
});

test('deprecated gates have a warning', () => {
  const { warnings } = resolveGates({ NodeSwap: true, GitRepoVolumeDriver: true, KubeletPSI: true });
  assert.deepEqual(
    warnings.map(({ field }) => field),
    ['featureGates.NodeSwap', 'featureGates.GitRepoVolumeDriver'],
  );
});

test('the result is frozen and an unknown name is a bug', () => {
  const { gates } = resolveGates({});
  assert.ok(Object.isFrozen(gates) && Object.isFrozen(gates.all));
  assert.throws(() => gates.enabled('Nothing' as 'NodeSwap'), /no such feature gate/);
  assert.deepEqual(gateSpec('NodeSwap'), { stage: 'ga', default: true, locked: true });
});
