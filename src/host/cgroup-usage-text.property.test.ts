import { test } from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { blkio, fieldOf, ioStat, numberOf, pressureOf } from './cgroup-usage-text.ts';
import {
  blockDevicesIn,
  cpuOfStat,
  diskActivitiesIn,
  interfacesIn,
  machineMemory,
  openFilesLimit,
} from './proc-usage-text.ts';

const noise = fc.string({ unit: fc.constantFrom('a', 'total', ' ', '\n', ':', '=', '0', '9', 'cpu', '8:0', '/', '-') });

test('no text of the kernel’s makes a reader fail', () => {
  fc.assert(
    fc.property(noise, (text) => {
      for (const read of [numberOf, pressureOf, interfacesIn, cpuOfStat, machineMemory]) read(text);
      for (const read of [blockDevicesIn, diskActivitiesIn, openFilesLimit]) read(text);
      ioStat(text, new Map());
      blkio(text, text, new Map());
    }),
  );
});

test('every field of a file is found with its own value, whatever surrounds it', () => {
  const name = fc.stringMatching(/^[a-z_]{1,8}$/);
  fc.assert(
    fc.property(fc.dictionary(name, fc.nat(), { noNullPrototype: true }), (fields) => {
      const text = Object.entries(fields)
        .map(([key, value]) => `${key} ${value}\n`)
        .join('');
      for (const [key, value] of Object.entries(fields)) assert.equal(fieldOf(text, key), value);
    }),
  );
});
