import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Summary } from '../../model/stats-summary.ts';
import { aRequest, readAnswer, type RequestOptions } from '../../testing/route-requests.ts';
import { specHandler } from './spec.ts';
import { statsSummaryHandler, summaryOptions } from './stats-summary.ts';

const golden = JSON.parse(readFileSync('test/golden/node/stats-summary.json', 'utf8')) as Summary;

test('the page of a recorded node, byte for byte, short or long', async () => {
  for (const times of [1, 40]) {
    const summary = { ...golden, pods: Array.from({ length: times }, () => golden.pods).flat() };
    const answer = await statsSummaryHandler({ summary: async () => summary })(aRequest());
    const { status, contentType, body } = await readAnswer(answer);
    assert.deepEqual([status, contentType], [200, 'application/json']);
    assert.equal(body, JSON.stringify(summary));
  }
});

test('options and signal of the request are passed on', async () => {
  const { signal } = new AbortController();
  const asked: unknown[] = [];
  const summary = async (...args: readonly unknown[]): Promise<Summary> => {
    asked.push(...args);
    return golden;
  };
  await statsSummaryHandler({ summary })(aRequest({ signal, query: 'only_cpu_and_memory=true' }));
  assert.deepEqual(asked, [{ onlyCpuAndMemory: true }, signal]);
});

const form = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
const options: readonly (readonly [RequestOptions, boolean])[] = [
  [{}, false],
  [{ query: 'only_cpu_and_memory=true' }, true],
  [{ query: 'only_cpu_and_memory=false' }, false],
  [{ query: 'only_cpu_and_memory=1' }, false],
  [{ query: 'only_cpu_and_memory' }, false],
  [{ query: 'only_cpu_and_memory=true&only_cpu_and_memory=true' }, false],
  [{ body: 'only_cpu_and_memory=true', headers: form }, true],
  [{ body: 'only_cpu_and_memory=true' }, false],
  [{ body: '{"only_cpu_and_memory":true}', headers: { 'content-type': 'application/json' } }, false],
  [{ body: '%ff%=&&;\0', headers: form }, false],
];
for (const [request, expected] of options) {
  test(`${JSON.stringify(request)}: ${expected}`, () => {
    assert.equal(summaryOptions(aRequest(request)).onlyCpuAndMemory, expected);
  });
}

test('/spec describes the machine', async () => {
  const machine = {
    machineId: 'm',
    systemUuid: 's',
    bootId: 'b',
    kernelVersion: '6.1',
    osImage: 'Linux',
    cores: 8,
    physicalCores: 4,
    sockets: 1,
    memoryBytes: 1024,
    swapBytes: 0,
  };
  const ask = async (cpuFrequencyKhz?: number): Promise<unknown> => {
    const deps = { machine: async () => machine, ...(cpuFrequencyKhz === undefined ? {} : { cpuFrequencyKhz }) };
    return JSON.parse((await readAnswer(await specHandler({ cpuFrequencyKhz: undefined, ...deps })(aRequest()))).body);
  };
  const expected = {
    num_cores: 8,
    num_physical_cores: 4,
    num_sockets: 1,
    memory_capacity: 1024,
    swap_capacity: 0,
    machine_id: 'm',
    system_uuid: 's',
    boot_id: 'b',
  };
  assert.deepEqual(await ask(), expected);
  assert.deepEqual(await ask(2_000_000), { ...expected, cpu_frequency_khz: 2_000_000 });
});
