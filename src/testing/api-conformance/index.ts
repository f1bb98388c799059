import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { deleteTests } from './deletes.ts';
import { identityTests } from './identities.ts';
import { listTests } from './lists.ts';
import { objectTests } from './objects.ts';
import { patchTests, statusTests } from './patches.ts';
import type { ApiSubject } from './subject.ts';
import { forgettingTests, watchTests } from './watches.ts';
import { World, type Examine } from './world.ts';

/**
 * What the agent relies on in an API server, as tests. The fake passes them in process and over HTTPS, and kube-apiserver
 * passes them for real, so that what is tested on the fake holds in a cluster.
 */
export function defineApiConformance(name: string, factory: () => Promise<ApiSubject>): void {
  void describe(name, () => {
    let world: World | undefined;
    before(async () => {
      world = new World(await factory());
      await world.setUp();
    });
    after(() => world?.tearDown());
    const examine: Examine = (what, run) => {
      void test(what, async () => {
        assert.ok(world !== undefined);
        await run(world);
      });
    };
    const parts = [
      ['objects', objectTests],
      ['patches', patchTests],
      ['status', statusTests],
      ['deletes', deleteTests],
      ['lists', listTests],
      ['watches', watchTests],
      ['identities', identityTests],
    ] as const;
    // Some wait for time to pass; nobody minds the others.
    void describe('at work', { concurrency: true }, () => {
      for (const [part, tests] of parts) void describe(part, { concurrency: true }, () => tests(examine));
    });
    void describe('with a short memory', () => forgettingTests(examine));
  });
}
