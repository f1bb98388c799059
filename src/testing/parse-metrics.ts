/**
 * A strict reader of the Prometheus text format 0.0.4: what a scraper would forgive is an error here, because a page of
 * ours shall not need forgiveness.
 */
export interface ParsedSample {
  /** With `_bucket`, `_sum`, `_count` where the family is a histogram or a summary. */
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
  readonly timestamp: number | undefined;
}

type MetricType = 'counter' | 'gauge' | 'histogram' | 'summary' | 'untyped';

interface ParsedFamily {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
  readonly samples: readonly ParsedSample[];
}

/** In the order of the page. */
export type ParsedMetrics = ReadonlyMap<string, ParsedFamily>;

/** Says the line, counted from one, and what is wrong there. */
export class MetricsFormatError extends Error {
  constructor(line: number, problem: string) {
    super(`line ${line}: ${problem}`);
    this.name = 'MetricsFormatError';
  }
}

interface OpenFamily {
  readonly name: string;
  help: string | undefined;
  type: MetricType | undefined;
  readonly samples: ParsedSample[];
}

const types: readonly string[] = ['counter', 'gauge', 'histogram', 'summary', 'untyped'];
const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const sampleStart = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{| )/;
const labelStart = /([a-zA-Z_][a-zA-Z0-9_]*)="/y;
const labelEnd = /((?:[^"\\\n]|\\["\\n])*)"(,|\})/y;
const number = /^(?:NaN|[+-]Inf|[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)$/;

/** Reads a page; throws MetricsFormatError at the first thing that is not well formed. */
export function parseMetrics(text: string): ParsedMetrics {
  const reader = new PageReader();
  const lines = text.split('\n');
  if (lines.pop() !== '') throw new MetricsFormatError(lines.length + 1, 'the page does not end with a line feed');
  for (const line of lines) reader.take(line);
  return reader.end();
}

class PageReader {
  readonly #families = new Map<string, ParsedFamily>();
  readonly #series = new Set<string>();
  #open: OpenFamily | undefined;
  #line = 0;

  take(line: string): void {
    this.#line++;
    if (line.startsWith('# HELP ')) this.#help(line.slice('# HELP '.length));
    else if (line.startsWith('# TYPE ')) this.#type(line.slice('# TYPE '.length));
    else if (line !== '' && !line.startsWith('#')) this.#sample(line);
  }

  end(): ParsedMetrics {
    this.#close();
    return this.#families;
  }

  #help(rest: string): void {
    const end = rest.indexOf(' ');
    const name = end < 0 ? rest : rest.slice(0, end);
    const help = end < 0 ? '' : rest.slice(end + 1);
    if (!/^(?:[^\\]|\\[\\n])*$/.test(help)) this.#fail(`HELP of ${name} has an unknown escape`);
    const family = this.#begin(name);
    if (family.help !== undefined) this.#fail(`a second HELP for ${name}`);
    family.help = unescapeText(help);
  }

  #type(rest: string): void {
    const [name = '', type = '', ...more] = rest.split(' ');
    if (more.length > 0 || !isType(type)) this.#fail(`${rest} is no name with a type`);
    const family = this.#begin(name);
    if (family.type !== undefined) this.#fail(`a second TYPE for ${name}`);
    family.type = type;
  }

  /** The family that the line is about; it is the open one, or one that was never seen. */
  #begin(name: string): OpenFamily {
    if (!metricName.test(name)) this.#fail(`${JSON.stringify(name)} is no name of a metric`);
    if (this.#open?.name === name) {
      if (this.#open.samples.length > 0) this.#fail(`HELP or TYPE of ${name} behind its samples`);
      return this.#open;
    }
    this.#close();
    if (this.#families.has(name)) this.#fail(`${name} is in two places`);
    this.#open = { name, help: undefined, type: undefined, samples: [] };
    return this.#open;
  }

  #sample(line: string): void {
    const start = sampleStart.exec(line);
    const name = start?.[1];
    if (start === null || name === undefined) this.#fail(`no sample: ${line}`);
    const family = this.#open;
    if (family === undefined || !belongs(name, family)) this.#fail(`${name} is not among the samples of its family`);
    if (family.help === undefined || family.type === undefined) this.#fail(`${name} comes without HELP or TYPE`);
    const labels = new Map<string, string>();
    const end = start[2] === '{' ? this.#labels(line, start[0].length, labels) : start[0].length;
    const [value = '', timestamp, ...more] = line.slice(end).split(' ');
    if (!number.test(value)) this.#fail(`${JSON.stringify(value)} is no number`);
    if (more.length > 0 || (timestamp !== undefined && !/^-?\d{1,19}$/.test(timestamp)))
      this.#fail(`${JSON.stringify(line.slice(end))} is no number with a timestamp`);
    const key = `${name}${labelsKey(labels)}`;
    if (this.#series.has(key)) this.#fail(`a second ${key}`);
    this.#series.add(key);
    family.samples.push({
      name,
      labels,
      value: value.endsWith('Inf') ? Number(`${value}inity`) : Number(value),
      timestamp: timestamp === undefined ? undefined : Number(timestamp),
    });
  }

  /** Takes labels up to the closing brace and the space behind it; answers where the value begins. */
  #labels(line: string, from: number, labels: Map<string, string>): number {
    let at = from;
    if (line.startsWith('} ', at)) return at + 2;
    for (;;) {
      labelStart.lastIndex = at;
      const [all = '', name = ''] = labelStart.exec(line) ?? this.#fail(`no label at column ${at + 1}: ${line}`);
      if (labels.has(name)) this.#fail(`the label ${name} twice`);
      at += all.length;
      labelEnd.lastIndex = at;
      const [rest = '', value = '', next] =
        labelEnd.exec(line) ?? this.#fail(`the label ${name} does not end: ${line}`);
      labels.set(name, unescapeText(value));
      at += rest.length;
      if (next === ',') continue;
      if (line[at] !== ' ') this.#fail(`no space behind the labels: ${line}`);
      return at + 1;
    }
  }

  #close(): void {
    const family = this.#open;
    this.#open = undefined;
    if (family === undefined) return;
    const { name, help, type, samples } = family;
    if (help === undefined || type === undefined) this.#fail(`${name} has no HELP or no TYPE`);
    if (samples.length === 0) this.#fail(`${name} has no samples`);
    const problem = type === 'histogram' ? histogramProblem(samples) : undefined;
    if (problem !== undefined) this.#fail(`${name}: ${problem}`);
    this.#families.set(name, { name, help, type, samples });
  }

  #fail(problem: string): never {
    throw new MetricsFormatError(this.#line, problem);
  }
}

const isType = (word: string): word is MetricType => types.includes(word);

function belongs(sample: string, family: OpenFamily): boolean {
  const { name, type } = family;
  if (type === 'histogram') return [`${name}_bucket`, `${name}_sum`, `${name}_count`].includes(sample);
  if (type === 'summary') return [name, `${name}_sum`, `${name}_count`].includes(sample);
  return sample === name;
}

/** Buckets must grow, end with +Inf, and that one must be the count. */
function histogramProblem(samples: readonly ParsedSample[]): string | undefined {
  const buckets = new Map<string, [le: number, count: number][]>();
  const counts = new Map<string, number>();
  for (const { name, labels, value } of samples) {
    const le = labels.get('le');
    const key = labelsKey([...labels].filter(([label]) => label !== 'le'));
    if (name.endsWith('_count')) counts.set(key, value);
    if (!name.endsWith('_bucket')) continue;
    if (le === undefined || !number.test(le)) return `a bucket with le=${le}`;
    const bound = le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le);
    const before = buckets.get(key) ?? [];
    const last = before.at(-1) ?? [Number.NEGATIVE_INFINITY, 0];
    if (bound <= last[0] || value < last[1]) return `the bucket ${le} of ${key} is less than the one before`;
    buckets.set(key, [...before, [bound, value]]);
  }
  for (const key of new Set([...buckets.keys(), ...counts.keys()])) {
    const [bound, count] = buckets.get(key)?.at(-1) ?? [];
    if (bound !== Number.POSITIVE_INFINITY || count !== counts.get(key)) return `${key} does not end with its count`;
  }
  return undefined;
}

/** The same for the same labels in any order. */
const labelsKey = (labels: Iterable<readonly [string, string]>): string =>
  JSON.stringify([...labels].sort(([a], [b]) => (a < b ? -1 : 1)));

const unescapeText = (text: string): string =>
  text.includes('\\') ? text.replaceAll(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char)) : text;

/**
 * One row per family, sorted, as the records under test/golden/node have them: `name | type | label,set; other,set`;
 * `-` is the set of no labels. A histogram's own `le` is left out.
 */
export function shapeOf(parsed: ParsedMetrics): readonly string[] {
  return [...parsed.values()].map(familyShape).sort((a, b) => (a < b ? -1 : 1));
}

function familyShape({ name, type, samples }: ParsedFamily): string {
  const sets = samples.map(({ labels }) =>
    [...labels.keys()]
      .filter((label) => type !== 'histogram' || label !== 'le')
      .sort()
      .join(','),
  );
  const distinct = [...new Set(sets)].map((set) => (set === '' ? '-' : set)).sort();
  return `${name} | ${type} | ${distinct.join('; ')}`;
}

/** The rows of a record, without its comment lines. */
export function shapeRows(record: string): readonly string[] {
  return record.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}
