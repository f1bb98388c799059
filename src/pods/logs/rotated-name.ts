/** A file that was once the current log: `0.log.20260101-093000`, compressed with `.gz` behind it. */
export interface RotatedName {
  readonly name: string;
  /** `YYYYMMDD-HHMMSS`; later files have greater ones, so that names sort by age. */
  readonly stamp: string;
  readonly kind: 'plain' | 'compressed' | 'unfinished';
}

const pattern = /^\.(?<stamp>\d{8}-\d{6})(?<ending>\.gz|\.tmp|)$/;
const stampPattern = /^(\d{4})(\d{2})(\d{2})-(\d{2})(\d{2})(\d{2})$/;

/** Parses the name of a rotated file of a log; undefined for files of other logs and of other programs. */
export function rotatedName(log: string, name: string): RotatedName | undefined {
  if (!name.startsWith(log)) return undefined;
  const { stamp, ending } = pattern.exec(name.slice(log.length))?.groups ?? {};
  // A date that no calendar has was not written by a rotation.
  if (stamp === undefined || stampAfter(stamp, 0) !== stamp) return undefined;
  return { name, stamp, kind: ending === '.gz' ? 'compressed' : ending === '.tmp' ? 'unfinished' : 'plain' };
}

/** A wall time in the local time zone. */
export function localStamp(wallMs: number): string {
  const at = new Date(wallMs);
  const date = [at.getFullYear(), at.getMonth() + 1, at.getDate()];
  return writeStamp([...date, at.getHours(), at.getMinutes(), at.getSeconds()]);
}

/** The stamp some seconds later, by the calendar alone. */
export function stampAfter(stamp: string, seconds: number): string | undefined {
  const match = stampPattern.exec(stamp);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number);
  const at = new Date(Date.UTC(year, month - 1, day, hour, minute, second + seconds));
  const date = [at.getUTCFullYear(), at.getUTCMonth() + 1, at.getUTCDate()];
  return writeStamp([...date, at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()]);
}

function writeStamp(parts: readonly number[]): string {
  const [year = '', month, day, hour, minute, second] = parts.map((part) => String(part).padStart(2, '0'));
  return `${year.padStart(4, '0')}${month}${day}-${hour}${minute}${second}`;
}
