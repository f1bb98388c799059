import { after, before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { commandTests } from './commands.ts';
import { containerTests } from './containers.ts';
import { eventTests } from './events.ts';
import { imageTests } from './images.ts';
import { sandboxTests } from './sandboxes.ts';
import { stoppingTests } from './stopping.ts';
import type { ConformanceOptions, ConformanceSubject } from './subject.ts';
import { World, type Examine } from './world.ts';

export { commands, type Habit, type ProgramName } from './subject.ts';

/**
 * What the agent relies on in a container runtime, as tests. The fake passes them in process and over its socket, and
 * containerd passes them for real, so that what is tested on the fake holds on a node.
 */
export function criConformance(options: ConformanceOptions): void {
  void describe(options.name, () => {
    let subject: ConformanceSubject | undefined;
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
    sandboxTests(examine);
    containerTests(examine);
    stoppingTests(examine);
    commandTests(examine);
    imageTests(examine);
    eventTests(examine);
  });
}
