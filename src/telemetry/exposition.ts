import type { Stability } from '../base/metrics.ts';

type LabelPairs = readonly (readonly [name: string, value: string])[];

export type FamilyType = 'counter' | 'gauge' | 'histogram' | 'summary';

interface FamilyHead {
  readonly name: string;
  readonly help: string;
  readonly stability?: Stability | undefined;
  readonly type: FamilyType;
}

/** The two lines above the samples of a family, in Prometheus text format, version 0.0.4. */
export function headText({ name, help, stability, type }: FamilyHead): string {
  const words = stability === undefined ? help : `[${stability}] ${help}`;
  return `# HELP ${name} ${escapeHelp(words)}\n# TYPE ${name} ${type}\n`;
}

/** Labels as they stand between braces; callers that write them more than once keep the text. */
export function labelText(labels: LabelPairs): string {
  return labels.map(([label, value]) => `${label}="${escapeLabel(value)}"`).join(',');
}

/** One line: `<name>{labels} value`, and the time of the measurement where it is not that of asking. */
export function sampleText(name: string, labels: string, value: number, timestamp?: number): string {
  const braces = labels === '' ? '' : `{${labels}}`;
  const time = timestamp === undefined ? '' : ` ${Math.round(timestamp)}`;
  return `${name}${braces} ${floatText(value)}${time}\n`;
}

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const escapeLabel = (text: string): string => escapeHelp(text).replaceAll('"', '\\"');

/** A number in Go's shortest `g` form, which is what readers of the format are used to: 1e+06, 0.005, +Inf. */
export function floatText(value: number): string {
  // Most numbers on a page are small counts.
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  if (Number.isInteger(value) && value > 0 && value < 1e6) return String(value);
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const [digits = '', exponent = ''] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}
