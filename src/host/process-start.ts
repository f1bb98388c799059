import { readPseudoFile } from './proc-usage-file.ts';

/** The index of the start time in what follows the name of a process, which may hold anything. */
const startField = 19;

/** When a process started, in the kernel's ticks: with its id this identifies it. Undefined when there is none. */
export function processStartTicks(pid: number): number | undefined {
  const text = readPseudoFile(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const ticks = Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[startField]);
  return Number.isSafeInteger(ticks) ? ticks : undefined;
}
