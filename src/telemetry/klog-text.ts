import { describeError } from '../base/errors.ts';
import { escapeLetter, goQuote } from './go-quote.ts';
import { cutLine } from './line-limit.ts';
import type { LogLine } from './log-line.ts';
import { jsonText, objectReference } from './log-value.ts';

const letters = { info: 'I', warn: 'W', error: 'E' } as const;

/** `I1115 06:34:00.764719   17885 file.ts:240] "Message" key="value"`, with the line break. */
export function klogText(line: LogLine): string {
  let text = `${letters[line.severity]}${timeText(line.time)} ${String(line.pid).padStart(7)} ${line.position}] `;
  text += goQuote(line.message);
  if (line.error !== undefined) text += ` err${stringValue(line.error)}`;
  for (const [key, value] of Object.entries(line.fields))
    if (value !== undefined) text += ` ${key}${fieldValue(value)}`;
  return cutLine(`${text}\n`);
}

/** `1115 06:34:00.764719`, local time. */
function timeText(time: number): string {
  const ms = Math.floor(time);
  const date = new Date(ms);
  const micros = date.getMilliseconds() * 1_000 + Math.floor((time - ms) * 1_000);
  const day = two(date.getMonth() + 1) + two(date.getDate());
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(micros).padStart(6, '0')}`;
}

const two = (number: number): string => (number < 10 ? `0${number}` : String(number));

/** The value with the `=` before it. */
function fieldValue(value: unknown): string {
  if (typeof value === 'string') return stringValue(value);
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return `=${value}`;
  if (value instanceof Error) return stringValue(describeError(value));
  const reference = objectReference(value);
  if (reference === undefined) return `=${jsonText(value)}`;
  const { name, namespace } = reference;
  return `=${goQuote(namespace === '' ? name : `${namespace}/${name}`)}`;
}

/** All but tabs: they would move a terminal's cursor, or colour what follows. */
const controls = /[^\P{Cc}\t]/gu;

/** A text of several lines is shown line by line behind tabs, so that people can read it. */
function stringValue(value: string): string {
  if (!value.includes('\n')) return `=${goQuote(value)}`;
  const lines = value.replace(/\n$/, '').split('\n');
  return `=<\n${lines.map((line) => `\t${line.replace(controls, escapeLetter)}\n`).join('')} >`;
}
