import { setFlagsFromString } from 'node:v8';

/**
 * The engine optimises a function after it has run for a while. In a mostly idle agent that costs more time than it
 * saves, so a function has to run six times longer: a budget of bytecode up to V8 11, a count of calls after.
 */
const largerBudget = '--interrupt-budget=400000';
const moreCalls = '--invocation-count-for-turbofan=18000';

/**
 * Limits the growth of the heap between two collections to the 30 % of a heap of 256 MiB. With a higher maximum the
 * engine would let it grow fourfold, and bin/tubelet sets the maximum for bursts, not for normal operation.
 */
const smallSteps = '--heap-growing-percent=30';

/**
 * Settings by major and minor version of V8, for a process that does the same few things for months; measurements are
 * in docs/adr/0009-engine-settings.md. They are set here and not on the command line, where node does not start when it
 * does not know one. V8 prints an error for an unknown setting, so an untested engine gets none.
 */
const flagsByEngine: Readonly<Record<string, readonly string[]>> = {
  /** Node.js 20. */
  '11.3': [smallSteps, largerBudget],
  /** Node.js 22. */
  '12.4': [smallSteps, moreCalls],
  /** Node.js 24: later optimisation saves no time there. */
  '13.6': [smallSteps],
  /** Node.js 26, as 24. */
  '14.6': [smallSteps],
};

/** The flags for an engine by the version it reports, `13.6.233.17-node.53`; undefined for an untested one. */
export function flagsFor(v8: string): readonly string[] | undefined {
  const engine = v8.split('.', 2).join('.');
  return Object.hasOwn(flagsByEngine, engine) ? flagsByEngine[engine] : undefined;
}

export function applyV8Flags(): void {
  for (const flag of flagsFor(process.versions.v8) ?? []) setFlagsFromString(flag);
}
