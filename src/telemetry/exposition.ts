import type { Stability } from '../base/metrics.ts';

/** One line of a family: `<name><suffix>{labels} value`. */
export interface Sample {
  /** `_bucket`, `_sum`, `_count` of a histogram; empty otherwise. */
  readonly suffix: string;
  /** In the order in which they are written. */
  readonly labels: readonly (readonly [name: string, value: string])[];
  readonly value: number;
  readonly timestamp?: number;
}

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly stability: Stability | undefined;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly samples: readonly Sample[];
}

/** Prometheus text format, version 0.0.4. Families come sorted by name; one without samples is left out. */
export function exposition(families: readonly Family[]): string {
  return [...families]
    .filter((family) => family.samples.length > 0)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(familyText)
    .join('');
}

function familyText(family: Family): string {
  const { name, type, samples } = family;
  const help = family.stability === undefined ? family.help : `[${family.stability}] ${family.help}`;
  let text = `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
  for (const sample of samples) {
    const labels = sample.labels.map(([label, value]) => `${label}="${escapeLabel(value)}"`).join(',');
    const braces = labels === '' ? '' : `{${labels}}`;
    const timestamp = sample.timestamp === undefined ? '' : ` ${Math.round(sample.timestamp)}`;
    text += `${name}${sample.suffix}${braces} ${floatText(sample.value)}${timestamp}\n`;
  }
  return text;
}

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const escapeLabel = (text: string): string => escapeHelp(text).replaceAll('"', '\\"');

/** A number in Go's shortest `g` form, which is what readers of the format are used to: 1e+06, 0.005, +Inf. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const [digits = '', exponent = ''] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}
