import { listProcesses } from '../../../src/up/process-table.ts';

/** Living processes that were given a file of the folder. */
export function processesOf(folder: string): readonly string[] {
  return listProcesses()
    .filter(({ argv }) => argv.some((word) => word.includes(`${folder}/`)))
    .map(({ argv }) => argv.join(' '));
}
