import { after, before, test } from 'node:test';
import { Machine } from '../../tools/lib/machine-v2/machine.mjs';
import { insideTests, runInside } from './run-inside.ts';

/** One boot for all test files that run inside. */
let machine: Machine;
before(async () => {
  machine = await Machine.boot({ root: process.cwd() });
});
after(() => machine?.close());

for (const [source, compiled] of insideTests()) {
  test(source, (context) => runInside(context, machine, compiled));
}
