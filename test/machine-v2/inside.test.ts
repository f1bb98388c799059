import { after, before, test } from 'node:test';
import { Machine } from '../../tools/lib/machine-v2/machine.mjs';
import { insideTests, runInside } from './run-inside.ts';

/** Of the tier control-plane, where it has been prepared: the Go kubelet is one of them. */
const programs = process.env['TUBELET_CONTROL_PLANE_PROGRAMS'];
const env = programs === undefined ? {} : { TUBELET_CONTROL_PLANE_PROGRAMS: programs };

/** One boot for all test files that run inside. */
let machine: Machine;
before(async () => {
  machine = await Machine.boot({ root: process.cwd(), shares: programs === undefined ? [] : [programs] });
});
after(() => machine?.close());

/** What holds for version 1 of cgroups under systemd, too. */
const onVersion1: ReadonlySet<string> = new Set(['test/machine-v2/inside/cgroups.test.ts']);

for (const [source, compiled] of insideTests()) {
  if (!onVersion1.has(source)) continue;
  test(`${source}, on cgroup version 1`, async (context) => {
    const other = await Machine.boot({ root: process.cwd(), cgroups: 1 });
    context.after(() => other.close());
    await runInside(context, other, compiled);
  });
}

for (const [source, compiled] of insideTests()) {
  test(source, (context) => runInside(context, machine, compiled, { env }));
}
