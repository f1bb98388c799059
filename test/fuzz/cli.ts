import { parseArgs } from 'node:util';
import { makeCase } from './cases.ts';
import { documentedFailures } from './documented-failures.ts';
import { fuzz } from './fuzz.ts';
import { recordHello } from './tls-cases.ts';
import { transcriptOf } from './transcript.ts';
import { memoryNow } from './watch.ts';

const usage =
  'usage: npm run fuzz -- [--cases N] [--minutes M] [--seed S] [--first N] [--at-once N] [--kinds K,…]\n' +
  '       npm run fuzz -- --seed S --case N\n';
const text = { type: 'string' } as const;
const { values } = parseArgs({
  options: { cases: text, minutes: text, seed: text, first: text, case: text, 'at-once': text, kinds: text },
});
const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);
const number = (word: string | undefined, otherwise: number): number => (word === undefined ? otherwise : Number(word));
const seed = number(values.seed, 1);
const single = values.case;
const first = number(single ?? values.first, 0);
const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
const asked = number(values.cases, minutes === undefined ? 2_000 : Number.MAX_SAFE_INTEGER);
const cases = single === undefined ? asked : 1;
const atOnce = number(values['at-once'], 16);
if (![seed, first, cases, atOnce].every(Number.isInteger) || cases < 1 || atOnce < 1 || Number.isNaN(minutes)) {
  process.stderr.write(usage);
  process.exit(2);
}
if (single !== undefined) process.stdout.write(`${transcriptOf(makeCase(seed, first, await recordHello()))}\n`);

process.stderr.write(`seed ${seed}, ${cases} cases at most\n`);
const began = process.hrtime.bigint();
const report = await fuzz({
  seed,
  cases,
  first,
  minutes,
  atOnce,
  kinds: values.kinds?.split(','),
  ...(single !== undefined && {
    onHeard: (_, { bytes, ms, endedByServer }) =>
      process.stdout.write(
        `heard ${JSON.stringify(bytes.toString('latin1'))}\n` +
          `${Math.round(ms)} ms, ended by the ${endedByServer ? 'server' : 'client'}\n`,
      ),
  }),
  onProgress: (done, problems) =>
    process.stderr.write(`${done} cases, ${problems} findings, ${mebibytes(memoryNow().used)} MiB\n`),
});
const { findings, kinds, statuses, failures, pauses, memory } = report;
for (const finding of findings) {
  const which = finding.number === undefined ? 'some case of' : `case ${finding.number}:`;
  process.stdout.write(`seed ${seed} ${which} ${finding.problem}\n    ${finding.transcript}\n`);
}
const seconds = Number((process.hrtime.bigint() - began) / 1_000_000_000n);
const counted = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map((words) => words.join(' '))
    .join(', ');
const unheard = documentedFailures.filter(
  ({ status, words, unseen }) => unseen !== true && !failures.has(`${status} ${words}`),
);
const played = [...kinds.values()].reduce((sum, one) => sum + one, 0);
process.stdout.write(`kinds: ${counted(kinds)}\n`);
process.stdout.write(`answers: ${counted(statuses)}\n`);
process.stdout.write(`documented failures: ${counted(failures)}\n`);
if (unheard.length > 0)
  process.stdout.write(`never heard: ${unheard.map(({ status, words }) => `${status} ${words}`).join(', ')}\n`);
process.stdout.write(
  `pauses: median ${pauses.median} ms, 99 % below ${pauses.p99} ms, longest ${pauses.longest} ms; ` +
    `${pauses.longestTurn} ms of the processor in one go\n`,
);
process.stdout.write(
  `memory: ${mebibytes(memory.before.used)} MiB before, ${mebibytes(memory.after.used)} MiB after, ` +
    `resident ${mebibytes(memory.before.resident)} and ${mebibytes(memory.after.resident)} MiB\n`,
);
process.stdout.write(`${played} cases of seed ${seed}: ${findings.length} findings, ${seconds} s\n`);
process.exitCode = findings.length > 0 ? 1 : 0;
