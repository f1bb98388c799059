import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { lifeTests } from './lives.ts';
import { refusalTests } from './refusals.ts';
import type { CsiConformanceOptions, CsiSubject } from './subject.ts';
import { World, type Examine } from './world.ts';

export type { CsiSubject } from './subject.ts';
export { capabilityFor } from './world.ts';

/**
 * What the agent relies on in a storage driver, as tests. The fake passes them in process and over its socket, and the CSI
 * hostpath driver passes them for real, so that what is tested on the fake holds on a node.
 */
export function csiConformance(options: CsiConformanceOptions): void {
  void describe(options.name, () => {
    let subject: CsiSubject | undefined;
    before(async () => {
      subject = await options.setup();
    });
    after(async () => {
      await options.teardown?.();
    });
    const examine: Examine = (name, run) => {
      void test(name, async () => {
        assert.ok(subject !== undefined);
        const world = new World(subject);
        try {
          await run(world);
        } finally {
          await world.cleanUp();
        }
      });
    };
    lifeTests(examine);
    refusalTests(examine);
  });
}
