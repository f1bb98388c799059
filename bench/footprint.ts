// What the agent costs while a pod runs and nothing happens: resident memory, CPU, and how often it wakes up.
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { samplePodManifest } from '../src/up/sample-pod.ts';
import { usage } from './support-usage.ts';
import { record, startBenchNode, until } from './support.ts';

const seconds = 30;
const limits = { rssMb: 100, cpuPercent: 1 };

const node = await startBenchNode({ verbosity: 2 });
try {
  const staged = join(node.staging, 'sample.yaml');
  writeFileSync(staged, samplePodManifest(node.runtime.images.busybox));
  renameSync(staged, join(node.manifests, 'sample.yaml'));
  await until(async () => /"type":"Ready","status":"True"/.test(await (await fetch(node.podsUrl)).text()));
  await new Promise((resolve) => void setTimeout(resolve, 3_000));
  const pid = node.agent.pid ?? 0;
  const before = usage(pid);
  await new Promise((resolve) => void setTimeout(resolve, seconds * 1_000));
  const after = usage(pid);
  const result = {
    seconds,
    rssMb: after.rssMb,
    anonMb: after.anonMb,
    cpuPercent: ((after.cpuSeconds - before.cpuSeconds) / seconds) * 100,
    wakeupsPerSecond: (after.switches - before.switches) / seconds,
    limits,
  };
  record('footprint', result);
  console.log(`idle with the sample pod, over ${seconds} s`);
  console.log(
    `  resident memory  ${result.rssMb.toFixed(1)} MB, ${result.anonMb.toFixed(1)} MB of it private (aim: at most ${limits.rssMb})`,
  );
  console.log(`  CPU              ${result.cpuPercent.toFixed(2)} % of a core (aim: at most ${limits.cpuPercent})`);
  console.log(`  main thread wakes ${result.wakeupsPerSecond.toFixed(1)} times a second`);
} finally {
  await node.destroy();
}
