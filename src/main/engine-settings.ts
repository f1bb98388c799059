import { setFlagsFromString } from 'node:v8';

/**
 * Some seconds after work the engine collects garbage up to three times over, to give memory back. A client that asks for
 * figures now and then would pay for that each time, and also for compiling again what was thrown away on the way. Ten
 * minutes after is soon enough.
 */
const laterMemoryReducer = '--gc-memory-reducer-start-delay-ms=600000';

/**
 * Compiled code goes with the kinds of objects it was made for, and a kind goes when two collections have seen none of it.
 * What is made for a page and gone after it is hardly ever seen. Kinds that code was compiled for now last longer.
 */
const keptKinds = '--retain-maps-for-n-gc=100';

/**
 * The engine optimises a function after it has run for a while. In an agent that is mostly idle that costs more time than it
 * saves, so a function has to run six times longer: a budget of bytecode up to V8 11, a count of calls after.
 */
const largerBudget = '--interrupt-budget=400000';
const moreCalls = '--invocation-count-for-turbofan=18000';

/**
 * The heap may grow by the same 30 % between two collections as one of 256 MiB does. The engine would let a heap with a higher
 * bound grow to the fourfold, and bin/tubelet sets the bound for bursts, not for every day.
 */
const smallSteps = '--heap-growing-percent=30';

/**
 * Settings by major and minor version of V8, for a process that does the same few things for months; figures are in
 * docs/adr/0009-engine-settings.md. They are set here and not on the command line, where node does not start when it does
 * not know one. V8 prints an error for one that it does not know, so an engine that was not tried gets none.
 */
const flagsByEngine: Readonly<Record<string, readonly string[]>> = {
  /** Node.js 20. */
  '11.3': [smallSteps, laterMemoryReducer, keptKinds, largerBudget],
  /** Node.js 22. */
  '12.4': [smallSteps, laterMemoryReducer, keptKinds, moreCalls],
  /** Node.js 24: the others save no time there. */
  '13.6': [smallSteps],
  /** Node.js 26, as 24. */
  '14.6': [smallSteps],
};

/** The flags for an engine by the version it reports, `13.6.233.17-node.53`; nothing for one that was not tried. */
export function flagsFor(v8: string): readonly string[] | undefined {
  const engine = v8.split('.', 2).join('.');
  return Object.hasOwn(flagsByEngine, engine) ? flagsByEngine[engine] : undefined;
}

export function applyV8Flags(): void {
  for (const flag of flagsFor(process.versions.v8) ?? []) setFlagsFromString(flag);
}
