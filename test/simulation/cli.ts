import { parseArgs } from 'node:util';
import { messageOf } from '../../src/base/errors.ts';
import { simulate } from './simulate.ts';
import { Violation } from './trail.ts';
import { readCourse, VolumeCourse } from './volume-course.ts';

const usage = 'usage: npm run simulate -- --seeds N [--first-seed F] | --seed S | --course "setUp before 7 goesOn"\n';
const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    'first-seed': { type: 'string' },
    seed: { type: 'string' },
    course: { type: 'string' },
  },
});
if (values.course !== undefined) {
  const course = new VolumeCourse(values.course === 'none' ? undefined : readCourse(values.course));
  const { code, text } = await course.run().then(
    (result) => ({ code: 0, text: JSON.stringify(result) }),
    (error: unknown) => ({ code: 1, text: messageOf(error) }),
  );
  process.stdout.write(`${course.trail.join('\n')}\n${text}\n`);
  process.exit(code);
}
const number = (text: string | undefined, otherwise: number): number => (text === undefined ? otherwise : Number(text));
const count = values.seed === undefined ? number(values.seeds, 300) : 1;
const first = number(values.seed ?? values['first-seed'], 1);
if (!Number.isInteger(count) || !Number.isInteger(first) || count < 1) {
  process.stderr.write(usage);
  process.exit(2);
}

/** Who waits for thousands of seeds likes to see them go by. */
const progressEvery = 500;
let violations = 0;
const began = process.hrtime.bigint();
for (let seed = first; seed < first + count; seed++) {
  try {
    const { lines } = await simulate(seed);
    if (values.seed !== undefined) process.stdout.write(`${lines.join('\n')}\n`);
  } catch (error) {
    violations++;
    if (values.seed !== undefined && error instanceof Violation) process.stdout.write(`${error.trail.join('\n')}\n`);
    process.stdout.write(`seed ${seed}: ${messageOf(error)}\n`);
  }
  const done = seed - first + 1;
  if (done % progressEvery === 0) process.stderr.write(`${done} of ${count} seeds, ${violations} violations\n`);
}
const seconds = Number((process.hrtime.bigint() - began) / 1_000_000_000n);
process.stdout.write(`${count} seeds from ${first}: ${violations} violations, ${seconds} s\n`);
process.exitCode = violations > 0 ? 1 : 0;
