import type { LogTime } from '../container-logs/log-time.ts';
import type { ServiceQuery } from './log-query.ts';

/** What lists the units that the journal knows. */
export const unitsCommand: readonly string[] = ['--field', '_SYSTEMD_UNIT'];

/** The arguments of journalctl for a query. Each value is an argument or part of one; nothing is ever read by a shell. */
export function journalCommand({ services, options }: ServiceQuery): readonly string[] {
  const { sinceTime, untilTime, tailLines, pattern, boot } = options;
  return [
    '--utc',
    '--no-pager',
    '--output=short-precise',
    ...(sinceTime === undefined ? [] : [`--since=${journalTime(sinceTime)}`]),
    ...(untilTime === undefined ? [] : [`--until=${journalTime(untilTime)}`]),
    ...(tailLines === undefined ? [] : ['--pager-end', `--lines=${tailLines}`]),
    ...services.map((service) => `--unit=${service}`),
    ...(pattern === undefined ? [] : [`--grep=${pattern}`]),
    ...(boot === undefined ? [] : ['--boot', String(boot)]),
  ];
}

/** Which of the services the journal knows, by the list of its units. */
export function knownServices(services: readonly string[], units: string): ReadonlySet<string> {
  const known = new Set(units.split('\n').map((unit) => unit.trim()));
  return new Set(services.filter((service) => known.has(`${service}.service`) || known.has(service)));
}

/** The journal takes it for a time of the zone it runs in, which is UTC whatever the node's is. */
function journalTime({ seconds }: Readonly<LogTime>): string {
  const at = new Date(seconds * 1_000);
  const year = String(at.getUTCFullYear()).padStart(4, '0');
  const date = [year, at.getUTCMonth() + 1, at.getUTCDate()].join('-');
  return `${date} ${[at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()].join(':')}`;
}

/** Where a service that does not log to the journal may have its file, most likely first. */
export function logFilesOf(service: string): readonly string[] {
  return [service, `${service}.log`, `${service}/${service}.log`];
}
