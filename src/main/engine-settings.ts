import { setFlagsFromString } from 'node:v8';

/**
 * Settings for a process that does the same few things for months. They are set here and not on the command line because
 * an engine that does not know one goes on without it, where node itself would not start. A test says whether it does.
 *
 * - Eight seconds after some work the engine collects garbage up to three times over, to give memory back. Whoever asks for
 *   figures now and then would pay for that each time, and also for compiling again what was thrown away on the way. Ten
 *   minutes after is soon enough.
 * - Compiled code goes with the kinds of objects it was made for, and a kind goes when two collections have seen none of
 *   it. What is made for a page and gone after it is hardly ever seen. Kinds that code was compiled for now last longer.
 * - The engine compiles a function with all its art after some 0.2 million steps of it. In an agent that is mostly idle that
 *   takes more time, for a quarter of an hour and more, than it saves: half of all that an idle agent with 100 pods took. After
 *   a million that is saved, as it is after three or fifteen, and what is really busy gets there: the page of usage of 100
 *   pods before it was asked for 300 times.
 */
export const engineSettings = [
  '--gc-memory-reducer-start-delay-ms=600000',
  '--retain-maps-for-n-gc=100',
  '--interrupt-budget=400000',
];

export function settleEngine(): void {
  for (const setting of engineSettings) setFlagsFromString(setting);
}
