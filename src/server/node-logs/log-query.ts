import { goJson, goQuote } from '../../model/go-text.ts';
import { goNumber } from '../container-logs/go-number.ts';
import { isBefore, parseLogTime, type LogTime } from '../container-logs/log-time.ts';
import { patternFault } from './pattern-fault.ts';

/** What a client wants to know of the node's services. */
export interface ServiceQuery {
  readonly services: readonly string[];
  readonly options: QueryOptions;
}

interface QueryOptions {
  readonly sinceTime?: Readonly<LogTime>;
  readonly untilTime?: Readonly<LogTime>;
  readonly tailLines?: number;
  readonly boot?: number;
  readonly pattern?: string;
}

type DecodedQuery =
  /** Nothing was asked: the path alone counts. */
  | { readonly kind: 'none' }
  | ({ readonly kind: 'services' } & ServiceQuery)
  /** Below the folder of logs. */
  | { readonly kind: 'file'; readonly file: string }
  | { readonly kind: 'refused'; readonly status: 400 | 406; readonly body: string };

const maxServices = 4;
const maxServiceLength = 256;
const maxTailLines = 100_000;
const maxPatternLength = 1_024;
const unsafe = /[^a-zA-Z\-_.:0-9@]/;

/** Reads and checks a query; `withPath` when something stood behind `/logs`. */
export function decodeLogQuery(query: URLSearchParams, withPath: boolean): DecodedQuery {
  const asked = query.getAll('query');
  const files = asked.filter((value) => /[/\\]/.test(value));
  const services = asked.filter((value) => !/[/\\]/.test(value) && value.trim() !== '');
  const faults: string[] = [];
  if (asked.length > 0 && files.length === 0 && services.length === 0) {
    faults.push(`query: Invalid value: ${goJson(asked)}: may not be empty`);
  }
  const sinceTime = time(query, 'sinceTime', faults);
  const untilTime = time(query, 'untilTime', faults);
  const boot = number(query, 'boot', faults);
  const tailLines = number(query, 'tailLines', faults);
  if (faults.length > 0) return refused(400, faults);

  const options: QueryOptions = {
    ...(sinceTime === undefined ? {} : { sinceTime }),
    ...(untilTime === undefined ? {} : { untilTime }),
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(boot === undefined ? {} : { boot }),
    ...textOf(query, 'pattern'),
  };
  if (asked.length === 0 && Object.keys(options).length === 0) return { kind: 'none' };
  if (withPath) return { kind: 'refused', status: 406, body: 'path not allowed in query mode\n' };
  const wrong = [
    ...serviceFaults(services),
    ...combinationFaults(files, services, options),
    ...optionFaults(query, options),
  ];
  if (wrong.length > 0) return refused(406, wrong);
  const [file] = files;
  return file === undefined ? { kind: 'services', services, options } : { kind: 'file', file };
}

/** The message for a file that was asked for and cannot be read. */
export function fileRefusal(file: string, why: string): { readonly status: 406; readonly body: string } {
  return { status: 406, body: `query: Invalid value: ${goJson([file])}: stat ${file}: ${why}\n` };
}

function serviceFaults(services: readonly string[]): readonly string[] {
  const faults = services.flatMap((service) => {
    const why =
      Buffer.byteLength(service) > maxServiceLength
        ? `length must be at most ${maxServiceLength}`
        : unsafe.test(service)
          ? 'input contains unsupported characters'
          : undefined;
    // Only its beginning: it may be as long as a request can be.
    return why === undefined ? [] : [`query: Invalid value: ${goQuote(service.slice(0, maxServiceLength))}: ${why}`];
  });
  if (services.length <= maxServices) return faults;
  return [
    ...faults.slice(0, maxServices),
    `query: Too many: ${services.length}: must have at most ${maxServices} items`,
  ];
}

function combinationFaults(
  files: readonly string[],
  services: readonly string[],
  options: QueryOptions,
): readonly string[] {
  const shown = goJson(files.slice(0, maxServices).map((file) => file.slice(0, maxServiceLength)));
  if (files.length === 0 && services.length === 0) return ['query: Required value: cannot be empty with options'];
  if (files.length > 0 && services.length > 0) {
    const both = `[${files.join(' ')}], [${services.join(' ')}]`.slice(0, 2 * maxServiceLength);
    return [`query: Invalid value: ${goQuote(both)}: cannot specify a file and service`];
  }
  if (files.length > 1) return [`query: Invalid value: ${shown}: cannot specify more than one file`];
  if (files.length === 1 && Object.keys(options).length > 0) {
    return [`query: Invalid value: ${shown}: cannot specify file with options`];
  }
  return [];
}

function optionFaults(query: URLSearchParams, options: QueryOptions): readonly string[] {
  const { sinceTime, untilTime, boot, tailLines, pattern } = options;
  const faults: string[] = [];
  if (sinceTime !== undefined && untilTime !== undefined && isBefore(untilTime, sinceTime)) {
    faults.push(`untilTime: Invalid value: ${goJson(query.get('untilTime'))}: must be after \`sinceTime\``);
  }
  if (boot !== undefined && boot > 0) faults.push(`boot: Invalid value: ${boot}: must be less than 1`);
  if (tailLines !== undefined && (tailLines < 0 || tailLines > maxTailLines)) {
    faults.push(`tailLines: Invalid value: ${tailLines}: must be between 0 and ${maxTailLines}, inclusive`);
  }
  if (pattern !== undefined) {
    const why =
      pattern.length > maxPatternLength ? `may not be longer than ${maxPatternLength}` : patternFault(pattern);
    const shown = goQuote(pattern.slice(0, maxPatternLength));
    if (why !== undefined) faults.push(`pattern: Invalid value: ${shown}: ${why}`);
  }
  return faults;
}

function time(query: URLSearchParams, name: string, faults: string[]): LogTime | undefined {
  const text = query.get(name) ?? '';
  if (text === '') return undefined;
  const parsed = parseLogTime(text);
  if (parsed === undefined) {
    faults.push(`${name}: Invalid value: ${goQuote(text.slice(0, maxServiceLength))}: invalid time format`);
  }
  return parsed;
}

function number(query: URLSearchParams, name: string, faults: string[]): number | undefined {
  const text = query.get(name) ?? '';
  if (text === '') return undefined;
  const read = goNumber(text);
  if ('value' in read) return read.value;
  const shown = goQuote(text.slice(0, maxServiceLength));
  faults.push(`${name}: Invalid value: ${shown}: strconv.Atoi: parsing ${shown}: ${read.fault}`);
  return undefined;
}

function textOf(query: URLSearchParams, name: 'pattern'): { readonly pattern?: string } {
  const value = query.get(name) ?? '';
  return value === '' ? {} : { pattern: value };
}

function refused(status: 400 | 406, faults: readonly string[]): DecodedQuery {
  const unique = [...new Set(faults)];
  const body = unique.length === 1 ? unique[0] : `[${unique.join(', ')}]`;
  return { kind: 'refused', status, body: `${body}\n` };
}
