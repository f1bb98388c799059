import type { GoldenRecord } from '../../src/testing/golden.ts';
import { compareCalls } from './compare-calls.ts';
import { compareEvents } from './compare-events.ts';
import { compareFiles } from './compare-files.ts';
import { compareStatuses } from './compare-statuses.ts';
import { replay } from './replay.ts';

/** Runs a recorded pod and says in which ways what happens differs from the record. */
export async function differencesOf(record: GoldenRecord): Promise<readonly string[]> {
  const ours = await replay(record);
  // The record of a static pod has its calls and its mirror only.
  const events = record.mirror === undefined ? compareEvents(record, ours.events) : [];
  return [
    ...compareCalls(record, ours.calls),
    ...compareStatuses(record, ours),
    ...events,
    ...compareFiles(record, ours),
  ];
}
