import type { Random } from '../../base/random.ts';
import { text, type Page, type RouteRequest } from '../route.ts';
import { acceptsPlainText } from './accept.ts';

export type PageLine = readonly [name: string, value: string];

/** Which of them it is changes from page to page, so that no program comes to rely on the form. */
const delimiters = [':', ': ', '=', ' '] as const;

/** A page for people, not to be parsed by programs. */
export function peoplePage(
  title: string,
  lines: readonly PageLine[],
  random: Pick<Random, 'next'>,
  request: Pick<RouteRequest, 'headers'>,
): Page {
  if (!acceptsPlainText(request.headers.accept)) {
    return text(406, 'media type not acceptable, must be: text/plain\n');
  }
  const delimiter = delimiters[Math.floor(random.next() * delimiters.length)] ?? ': ';
  const head = `\nkubelet ${title}\nThis page is for people. Programs cannot rely on its form, which changes.\n\n`;
  return text(200, head + lines.map(([name, value]) => `${name}${delimiter}${oneLine(value)}\n`).join(''));
}

/** A value may hold anything; a line must stay one. */
function oneLine(value: string): string {
  return /[\r\n]/.test(value) ? JSON.stringify(value) : value;
}
