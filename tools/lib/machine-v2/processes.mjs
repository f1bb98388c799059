// Processes that end with the one that started them, and how a process is told from a later one with the same number.
import { readFileSync } from 'node:fs';

/**
 * The words that run a program in a process namespace of its own, which the kernel ends as a whole as soon as this process
 * ends, be it by SIGKILL.
 * @param {readonly string[]} words
 */
export const mortal = (words) => [
  'setpriv',
  '--pdeathsig',
  'KILL',
  'unshare',
  '--pid',
  '--fork',
  '--kill-child=KILL',
  '--mount-proc',
  '--',
  ...words,
];

/**
 * When a process started, in ticks after the boot of this machine; nothing when there is none.
 * @param {number | string} pid
 * @returns {number | undefined}
 */
export function startOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name may hold anything; what follows its last parenthesis are numbers, the start the twentieth of them.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
  } catch {
    return undefined;
  }
}

/** Of this boot of the host; process numbers mean nothing in another. */
export const bootId = () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
