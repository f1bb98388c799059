import { recordCgroups } from './record-cgroups.ts';

/** Run inside the machine: the record on standard output. */
process.stdout.write(await recordCgroups());
