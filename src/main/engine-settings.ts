import { setFlagsFromString } from 'node:v8';

/** Major and minor number of V8, which is what its flags go with. */
type V8Version = readonly [major: number, minor: number];

export interface EngineSetting {
  readonly flag: string;
  /** The first and the last V8 known to have the flag. */
  readonly since: V8Version;
  readonly until: V8Version;
}

/** The V8 of Node 20 and that of Node 26. */
const oldest: V8Version = [11, 3];
const newest: V8Version = [14, 6];

/**
 * Settings for a process that does the same few things for months; docs/adr/0009-engine-settings.md has the figures. They are
 * set here and not on the command line, where node does not start when it does not know one. An engine that does not know
 * one prints an error, so each is set only on the engines that a test has seen take it.
 *
 * - Some seconds after work the engine collects garbage up to three times over, to give memory back. A client that asks for
 *   figures now and then would pay for that each time, and also for compiling again what was thrown away on the way. Ten
 *   minutes after is soon enough.
 * - Compiled code goes with the kinds of objects it was made for, and a kind goes when two collections have seen none of
 *   it. What is made for a page and gone after it is hardly ever seen. Kinds that code was compiled for now last longer.
 * - The engine optimises a function after it has run for a while. In an agent that is mostly idle that costs more time than
 *   it saves, so a function has to run six times longer. How long is a budget of bytecode up to V8 11, a count of calls after.
 */
export const engineSettings: readonly EngineSetting[] = [
  { flag: '--gc-memory-reducer-start-delay-ms=600000', since: oldest, until: newest },
  { flag: '--retain-maps-for-n-gc=100', since: oldest, until: newest },
  { flag: '--interrupt-budget=400000', since: oldest, until: oldest },
  { flag: '--invocation-count-for-turbofan=18000', since: [12, 4], until: newest },
];

/** The flags for an engine, by the version it reports: `13.6.233.17-node.53`. */
export function flagsFor(v8: string): readonly string[] {
  const [major = 0, minor = 0] = v8.split('.').map(Number);
  const version: V8Version = [major, minor];
  return engineSettings
    .filter(({ since, until }) => compare(since, version) <= 0 && compare(version, until) <= 0)
    .map(({ flag }) => flag);
}

export function applyV8Flags(): void {
  for (const flag of flagsFor(process.versions.v8)) setFlagsFromString(flag);
}

const compare = (a: V8Version, b: V8Version): number => a[0] - b[0] || a[1] - b[1];
