import { parseArgs } from 'node:util';
import { memoryNow } from '../watch.ts';
import { makeCase } from './cases.ts';
import { fuzzManifests } from './fuzz.ts';
import { transcriptOf } from './transcript.ts';

const usage =
  'usage: npm run fuzz -- --manifests [--cases N] [--minutes M] [--seed S] [--first F] [--kinds K,…]\n' +
  '       npm run fuzz -- --manifests --seed S --case N\n';
const text = { type: 'string' } as const;
const { values } = parseArgs({
  options: {
    manifests: { type: 'boolean' },
    cases: text,
    minutes: text,
    seed: text,
    first: text,
    case: text,
    kinds: text,
  },
});
const number = (word: string | undefined, otherwise: number): number => (word === undefined ? otherwise : Number(word));
const seed = number(values.seed, 1);
const single = values.case;
const first = number(single ?? values.first, 0);
const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
const cases = single === undefined ? number(values.cases, minutes === undefined ? 1_000 : Number.MAX_SAFE_INTEGER) : 1;
if (![seed, first, cases].every(Number.isInteger) || cases < 1 || Number.isNaN(minutes)) {
  process.stderr.write(usage);
  process.exit(2);
}
if (single !== undefined) process.stdout.write(`${transcriptOf(makeCase(seed, first))}\n`);

process.stderr.write(`seed ${seed}, ${cases} cases at most\n`);
const began = process.hrtime.bigint();
const { findings, known, kinds, taken, refused, slowest, memory } = await fuzzManifests({
  seed,
  cases,
  first,
  minutes,
  kinds: values.kinds?.split(','),
  onProgress: (done, found) =>
    process.stderr.write(`${done} cases, ${found} findings, ${(memoryNow().used / 2 ** 20).toFixed(1)} MiB\n`),
  ...(single !== undefined && {
    onPlayed: (_, __, { log, pods, events }) => {
      for (const line of log.filter(({ severity }) => severity !== 'debug'))
        process.stdout.write(`${line.text.slice(0, 1_000)}\n`);
      for (const { reason, message } of events) process.stdout.write(`event ${reason}: ${message.slice(0, 1_000)}\n`);
      for (const { pod, status } of pods)
        process.stdout.write(`pod ${pod.metadata?.name}: ${JSON.stringify(status)?.slice(0, 2_000)}\n`);
    },
  }),
});
for (const finding of findings)
  process.stdout.write(`seed ${seed} case ${finding.number ?? '?'} (${finding.kind}): ${finding.problem}\n`);
const seconds = Number(process.hrtime.bigint() - began) / 1e9;
const played = [...kinds.values()].reduce((sum, one) => sum + one, 0);
const counted = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map((words) => words.join(' '))
    .join(', ');
process.stdout.write(
  `kinds: ${counted(kinds)}; ${taken} cases had pods that were taken, ${refused} files that were refused\n`,
);
if (known.size > 0) process.stdout.write(`known findings: ${counted(known)}\n`);
process.stdout.write(
  `slowest: case ${slowest.number} (${slowest.kind}), ${Math.round(slowest.cpuMs)} ms of the processor\n`,
);
process.stdout.write(
  `memory: ${(memory.before.used / 2 ** 20).toFixed(1)} MiB before, ${(memory.after.used / 2 ** 20).toFixed(1)} MiB after\n`,
);
process.stdout.write(
  `${played} cases of seed ${seed}: ${findings.length} findings, ${seconds.toFixed(1)} s, ${Math.round((played / seconds) * 60)} a minute\n`,
);
process.exitCode = findings.length > 0 ? 1 : 0;
