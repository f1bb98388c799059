import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { messageOf } from '../../src/base/errors.ts';
import { nameOf, stages, VolumeCourse, type Death } from './volume-course.ts';
import { countSteps, goThrough } from './volume-sweep.ts';

type Kill = Omit<Death, 'stage' | 'step'>;

/** What is after a step is before the next, so that few need be asked for both; TUBELET_SIM_ALL=1 asks for all. */
const isThorough = process.env['TUBELET_SIM_ALL'] === '1';
const kills: readonly (Kill & { readonly every: number })[] = [
  { at: 'after', meanwhile: 'goesOn', every: 1 },
  { at: 'before', meanwhile: 'goesOn', every: 12 },
  { at: 'after', meanwhile: 'isDeleted', every: 6 },
  { at: 'after', meanwhile: 'reboots', every: 9 },
];
/** Of the whole agent, which takes much longer. */
const everyCourse = 60;
const mostTold = 3;

/** Has an agent die at one step after the other, and tells what that broke. */
async function sweep(deaths: readonly Death[], run: (death: Death) => Promise<readonly string[]>): Promise<void> {
  const broken: string[] = [];
  for (const death of deaths) {
    const rules = await run(death).catch((error: unknown) => [messageOf(error)]);
    if (rules.length > 0) broken.push(`${nameOf(death)}: ${rules.join('\n')}`);
    if (broken.length === mostTold) break;
  }
  assert.deepEqual(broken, []);
}

const each = (steps: number, every: number, first = 1): readonly number[] =>
  Array.from({ length: Math.ceil(steps / every) }, (_, index) => first + index * every).filter((step) => step <= steps);

describe('kill -9 at every step of volumes of every kind', () => {
  for (const stage of stages) {
    for (const { at, meanwhile, every } of kills) {
      test(`${stage}: ${at} the step; the pod ${meanwhile}`, async () => {
        const steps = await countSteps(stage);
        assert.ok(steps > 60, `${stage} has only ${steps} steps`);
        await sweep(
          each(steps, isThorough ? 1 : every).map((step) => ({ stage, step, at, meanwhile })),
          goThrough,
        );
      });
    }
  }
});

describe('kill -9 of the whole agent in the middle of volumes', () => {
  for (const [index, stage] of stages.entries()) {
    test(`${stage}: at steps all over it`, async () => {
      const { [stage]: steps } = await new VolumeCourse().run();
      const [all, every] = [kills.map(({ at, meanwhile }) => ({ at, meanwhile })), isThorough ? 1 : everyCourse];
      const deaths = each(steps, every, 1 + index * 7).map((step, at) => ({ stage, step, ...pick(all, at) }));
      await sweep(deaths, async (death) => {
        await new VolumeCourse(death).run();
        return [];
      });
    });
  }
});

function pick(all: readonly Kill[], index: number): Kill {
  return all[index % all.length] ?? { at: 'after', meanwhile: 'goesOn' };
}
