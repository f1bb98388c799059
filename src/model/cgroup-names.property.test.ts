import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cgroupPath, parseCgroupName, podCgroup, podUidOfCgroup, sliceUnit } from './cgroup-names.ts';

/** An underscore stands for a dash in the name of a slice, so a name of systemd has none of its own. */
const part = fc.stringMatching(/^[a-zA-Z0-9.:@-]{1,12}$/).filter((text) => !text.endsWith('.slice'));
const name = fc.array(part, { minLength: 1, maxLength: 5 });
const uid = fc.uuid();

test('a slice names all its parents', () => {
  fc.assert(fc.property(name, (parts) => assert.deepEqual(parseCgroupName(sliceUnit(parts), 'systemd'), parts)));
});

test('a path is a name, with either driver', () => {
  fc.assert(
    fc.property(name, (parts) => {
      for (const driver of ['cgroupfs', 'systemd'] as const) {
        assert.deepEqual(parseCgroupName(cgroupPath(parts, driver), driver), parts);
      }
    }),
  );
});

test('whatever an operator writes is a name with a path, without empty parts', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const parts = parseCgroupName(text, 'cgroupfs');
      assert.ok(!parts.includes(''));
      assert.doesNotMatch(cgroupPath(parts, 'cgroupfs'), /\/\/|.\/$/);
    }),
  );
});

test('the uid of a pod is read back from its path, below any root', () => {
  const root = fc.array(fc.stringMatching(/^[a-z]{1,8}$/), { maxLength: 2 }).map((parts) => `/${parts.join('/')}`);
  fc.assert(
    fc.property(root, fc.constantFrom('Guaranteed', 'Burstable', 'BestEffort'), uid, (cgroupRoot, qos, id) => {
      for (const driver of ['cgroupfs', 'systemd'] as const) {
        assert.equal(podUidOfCgroup(cgroupPath(podCgroup(cgroupRoot, qos, id), driver)), id);
      }
    }),
  );
});
