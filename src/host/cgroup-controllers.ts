import { join } from 'node:path';
import { TubeletError } from '../base/errors.ts';
import { codeOf, failure, textIn, wordsIn, writeInto } from './cgroup-files.ts';

/** What pods are limited in. Other controllers belong to the programs that use them. */
export const usedControllers = ['cpu', 'cpuset', 'memory', 'hugetlb', 'pids'] as const;

const isUsed = (name: string): boolean => (usedControllers as readonly string[]).includes(name);

/**
 * On version 2 a cgroup hands controllers down one by one, and only when it has no processes of its own. All there are go
 * down: those that limit nothing count what runtimes and the stats read.
 */
export function enableControllers(directory: string): void {
  const file = join(directory, 'cgroup.subtree_control');
  const enabled = wordsIn(file);
  const wanted = wordsIn(join(directory, 'cgroup.controllers')).filter((name) => !enabled.includes(name));
  if (wanted.length === 0) return;
  // The kernel takes all of them or none.
  if (tryToEnable(file, wanted) === undefined) return;
  for (const name of wanted) {
    const error = tryToEnable(file, [name]);
    if (error === undefined || !isUsed(name)) continue;
    const why = codeOf(error) === 'EBUSY' ? ': processes live in that cgroup itself, move them to one below' : '';
    throw failure(error, `cannot enable controller ${name} for the cgroups below ${directory}${why}`);
  }
}

/** Answers why not. */
function tryToEnable(file: string, names: readonly string[]): unknown {
  try {
    writeInto(file, names.map((name) => `+${name}`).join(' '));
    return undefined;
  } catch (error) {
    return error;
  }
}

/** A cgroup of threads cannot limit memory. One below a threaded cgroup is invalid. */
export function requireDomain(directory: string): void {
  const type = textIn(join(directory, 'cgroup.type')) ?? 'domain';
  if (type === 'domain') return;
  const state = type === 'domain invalid' ? 'an invalid state' : `${type} mode`;
  const message = `cannot enter cgroupv2 "${directory}" with domain controllers -- it is in ${state}`;
  throw new TubeletError('unsupported', message);
}
