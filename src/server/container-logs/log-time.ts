/**
 * RFC 3339 times with nanoseconds, read from bytes: a log has one in every line, and most are only compared to see
 * that they are there.
 */
export interface LogTime {
  /** Since the epoch. */
  seconds: number;
  nanos: number;
  /** Of the zone it was written in. */
  offsetMinutes: number;
}

export const newLogTime = (): LogTime => ({ seconds: 0, nanos: 0, offsetMinutes: 0 });

const zero = 0x30;
const [dash, colon, dot, comma, plus] = [0x2d, 0x3a, 0x2e, 0x2c, 0x2b];
const [letterT, letterZ] = [0x54, 0x5a];
/** `2006-01-02T15:04:05` */
const secondsEnd = 19;
const daysBefore = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

/** Reads the bytes from `start` to `end` into `into`; false when they are no time of this form. */
export function readLogTime(bytes: Uint8Array, start: number, end: number, into: LogTime): boolean {
  if (end - start <= secondsEnd || end > bytes.length) return false;
  const year = number(bytes, start, 4);
  const month = number(bytes, start + 5, 2);
  const day = number(bytes, start + 8, 2);
  const hour = number(bytes, start + 11, 2);
  const minute = number(bytes, start + 14, 2);
  const second = number(bytes, start + 17, 2);
  const divided =
    bytes[start + 4] === dash &&
    bytes[start + 7] === dash &&
    bytes[start + 10] === letterT &&
    bytes[start + 13] === colon &&
    bytes[start + 16] === colon;
  if (!divided || year < 0 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return false;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return false;

  let at = start + secondsEnd;
  let nanos = 0;
  if (bytes[at] === dot || bytes[at] === comma) {
    const first = ++at;
    for (let scale = 100_000_000; at < end && isDigit(bytes[at]); at++, scale = Math.floor(scale / 10)) {
      // Digits beyond the ninth are cut off.
      nanos += scale * ((bytes[at] ?? 0) - zero);
    }
    if (at === first) return false;
  }
  const offset = readOffset(bytes, at, end);
  if (offset === undefined) return false;
  const minutes = (daysSinceEpoch(year, month, day) * 24 + hour) * 60 + minute - offset;
  into.seconds = minutes * 60 + second;
  into.nanos = nanos;
  into.offsetMinutes = offset;
  return true;
}

/** Of a text; nothing when it is no time of this form. */
export function parseLogTime(text: string): LogTime | undefined {
  const bytes = Buffer.from(text);
  const time = newLogTime();
  return readLogTime(bytes, 0, bytes.length, time) ? time : undefined;
}

export function isBefore(one: Readonly<LogTime>, other: Readonly<LogTime>): boolean {
  return one.seconds < other.seconds || (one.seconds === other.seconds && one.nanos < other.nanos);
}

/** In the zone it was written in, without what is below a second: the same for many lines in a row. */
export function formatSecond({ seconds, offsetMinutes }: Readonly<LogTime>): string {
  return new Date((seconds + offsetMinutes * 60) * 1_000).toISOString().slice(0, secondsEnd);
}

/** What comes after the seconds: nine digits for the nanoseconds, and the zone. */
export function formatRest({ nanos, offsetMinutes }: Readonly<LogTime>): string {
  return `.${String(nanos).padStart(9, '0')}${formatOffset(offsetMinutes)}`;
}

function formatOffset(minutes: number): string {
  if (minutes === 0) return 'Z';
  const size = Math.abs(minutes);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** Minutes; nothing when the zone is none, or something comes after it. */
function readOffset(bytes: Uint8Array, at: number, end: number): number | undefined {
  const sign = bytes[at];
  if (sign === letterZ) return at + 1 === end ? 0 : undefined;
  if ((sign !== plus && sign !== dash) || at + 6 !== end || bytes[at + 3] !== colon) return undefined;
  const hours = number(bytes, at + 1, 2);
  const minutes = number(bytes, at + 4, 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return undefined;
  const size = hours * 60 + minutes;
  return sign === dash && size > 0 ? -size : size;
}

/** Negative when one of the bytes is no digit. */
function number(bytes: Uint8Array, at: number, digits: number): number {
  let value = 0;
  for (let index = at; index < at + digits; index++) {
    if (!isDigit(bytes[index])) return -1;
    value = value * 10 + (bytes[index] ?? 0) - zero;
  }
  return value;
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= zero && byte <= zero + 9;

const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

function daysIn(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function daysSinceEpoch(year: number, month: number, day: number): number {
  const past = year - 1;
  const leapDays = Math.floor(past / 4) - Math.floor(past / 100) + Math.floor(past / 400);
  // 719162 days lie between the first of January of the year one and that of 1970.
  const before = past * 365 + leapDays - 719_162;
  return before + (daysBefore[month - 1] ?? 0) + (month > 2 && isLeap(year) ? 1 : 0) + day - 1;
}
