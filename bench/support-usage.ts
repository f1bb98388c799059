import { readFileSync } from 'node:fs';

/** What a process has taken so far. */
interface Usage {
  readonly rssMb: number;
  readonly anonMb: number;
  readonly cpuSeconds: number;
  readonly switches: number;
}

const ticksPerSecond = 100;

export function usage(pid: number): Usage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const ticks = Number(stat[11]) + Number(stat[12]);
  return {
    rssMb: field('VmRSS') / 1024,
    anonMb: field('RssAnon') / 1024,
    cpuSeconds: ticks / ticksPerSecond,
    switches: field('voluntary_ctxt_switches'),
  };
}
