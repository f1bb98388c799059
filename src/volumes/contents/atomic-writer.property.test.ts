import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryFiles } from '../../testing/memory-files.ts';
import { memoryVolumeHost } from '../../testing/memory-volume-host.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { visibleFiles } from '../../testing/visible-files.ts';
import { writeContents } from './atomic-writer.ts';
import { contentsFor } from './compute-write.ts';
import { conflictIn, pathProblem } from './payload.ts';

const name = fc.constantFrom('a', 'b', 'c', '.hidden', 'a_tmp', 'x..y');
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
/** Sets of files that can be written; every text says which version it is of. */
const paths = fc.uniqueArray(path, { maxLength: 6 }).filter((all) => conflictIn(all) === undefined);
const steps = fc.array(fc.record({ paths, crashAfter: fc.option(fc.nat(12)) }), { minLength: 1, maxLength: 6 });

test('whatever is written and wherever it is broken off, one version is seen, and a whole write shows all of it', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (versions) => {
      const files = new MemoryFiles();
      await files.makeFolder('/v', 0o777);
      const deps = {
        clock: new FakeClock(),
        random: seededRandom(7),
        files,
        contents: memoryVolumeHost(files).contents,
      };
      let seen: Record<string, string> = {};
      for (const [version, { paths: wanted, crashAfter }] of versions.entries()) {
        const text = `version ${version}`;
        const payload = new Map(wanted.map((at) => [at, { content: Buffer.from(text), mode: 0o644 }]));
        let left = crashAfter ?? Number.POSITIVE_INFINITY;
        files.fault = () => {
          if (left-- <= 0) throw new Error('killed');
        };
        const isWhole = await writeContents(deps, '/v', contentsFor(payload, undefined)).then(
          () => true,
          () => false,
        );
        files.fault = () => {};
        const before = seen;
        seen = await visibleFiles(files, '/v');
        const texts = new Set(Object.values(seen));
        assert.ok(texts.size <= 1, `two versions at once: ${JSON.stringify(seen)}`);
        if (isWhole) assert.deepEqual(seen, Object.fromEntries(wanted.toSorted().map((at) => [at, text])));
        else if (!texts.has(text)) for (const at of Object.keys(seen)) assert.equal(seen[at], before[at]);
      }
    }),
    { numRuns: 150 },
  );
});

test('no path that may be written leaves the volume or meets the writer’s own names', () => {
  const wild = fc.array(fc.constantFrom('/', '.', '..', 'a', '..data', '\0', ' '), { maxLength: 6 });
  fc.assert(
    fc.property(wild, (parts) => {
      const candidate = parts.join('');
      if (pathProblem(candidate) !== undefined) return;
      assert.equal(candidate.startsWith('/') || candidate.startsWith('..'), false);
      assert.equal(
        candidate.split('/').some((each) => each === '' || each === '.' || each === '..'),
        false,
      );
    }),
  );
});
