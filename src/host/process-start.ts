import { readPseudoFile } from './proc-usage-file.ts';

/** The index of the start time in what follows the name of a process, which may hold anything. */
const startField = 19;

/** When a process began, in the kernel's ticks: with its number this tells it from any other. Undefined: there is none. */
export function processStartTicks(pid: number): number | undefined {
  const text = readPseudoFile(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const ticks = Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[startField]);
  return Number.isSafeInteger(ticks) ? ticks : undefined;
}
