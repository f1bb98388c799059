import type { ProgramResult } from '../../model/program-calls.ts';
import type { Programs } from './ports.ts';
import { idLimit, idUnit, type IdSpace } from './id-blocks.ts';

/** The ids for pods and their origin, or what is wrong with the machine's configuration of them. */
export type IdSpaceResult =
  | { readonly space: IdSpace; readonly origin: 'default' | 'getsubids' }
  | { readonly problem: string };

const user = 'kubelet';
/** The exit code of getent when the machine knows no such user. */
const unknownKey = 2;

/**
 * The subordinate ids of a user named kubelet are those that pods may have. Without that user, or without the program that
 * prints its ids, pods may have all ids above those of the host.
 */
export async function readIdSpace(programs: Programs, blockLength: number): Promise<IdSpaceResult> {
  const known = await programs.run('getent', ['passwd', user]);
  if (known === undefined || known.code === unknownKey) return defaultSpace(blockLength);
  if (known.code !== 0) return { problem: `cannot find user ${user}: getent ${describeExit(known)}` };
  const users = await programs.run('getsubids', [user]);
  const groups = await programs.run('getsubids', ['-g', user]);
  if (users === undefined || groups === undefined) return defaultSpace(blockLength);
  const failed = [users, groups].find(({ code }) => code !== 0);
  if (failed !== undefined) {
    return { problem: `cannot ask for the subordinate ids of user ${user}: getsubids ${describeExit(failed)}` };
  }
  if (users.stdout !== groups.stdout) {
    return { problem: `the subordinate user ids and group ids of user ${user} differ; give both the same range` };
  }
  return computeIdSpace(users.stdout, blockLength);
}

/** From the one line `0: kubelet 65536 7208960` that getsubids prints: number, user, first id, how many. */
export function computeIdSpace(output: string, blockLength: number): IdSpaceResult {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  if (lines.length !== 1) {
    return { problem: `user ${user} must have one range of subordinate ids, not ${lines.length}` };
  }
  const fields = (lines[0] ?? '').trim().split(/\s+/);
  const [first, count] = [fields[2], fields[3]].map(idIn);
  if (fields.length !== 4 || first === undefined || count === undefined) {
    return { problem: `getsubids said "${lines[0] ?? ''}", which is no range of ids` };
  }
  const range = `the subordinate ids of user ${user}, ${count} from ${first} on,`;
  if (first < idUnit) return { problem: `${range} must begin at ${idUnit} or above: those below are the host's` };
  if (first % blockLength !== 0 || count % blockLength !== 0) {
    return { problem: `${range} must begin at and be a multiple of ${blockLength}, the ids that a pod gets` };
  }
  if (count === 0) return { problem: `${range} are none` };
  return { space: { first, end: Math.min(first + count, idLimit), blockLength }, origin: 'getsubids' };
}

function defaultSpace(blockLength: number): IdSpaceResult {
  return { space: { first: blockLength, end: idLimit, blockLength }, origin: 'default' };
}

function idIn(word: string | undefined): number | undefined {
  const id = word !== undefined && /^\d+$/.test(word) ? Number(word) : undefined;
  return id !== undefined && id <= 2 ** 32 ? id : undefined;
}

function describeExit({ code, stderr }: ProgramResult): string {
  const message = stderr.trim().replaceAll(/\s+/g, ' ');
  return `ended with exit code ${code}${message === '' ? '' : `: ${message}`}`;
}
