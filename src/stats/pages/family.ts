/** Takes one sample: its labels as `labelText` makes them, and its value; an unknown one is left out. */
type Put = (labels: string, value: number | undefined) => void;

/** A container, pod, node or machine with values, all read at the same moment. */
export interface Subject {
  /** What ends a line with a timestamp: ` 1700000000000\n`. */
  readonly stamp: string;
}

/** A metric as data: what is said about it, and which samples a subject has of it. */
export interface Family<S extends Subject> {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  /** Whether samples carry the moment at which they were read. */
  readonly timed: boolean;
  readonly each: (subject: S, put: Put) => void;
}

export const lineEnd = '\n';

/** The family in the text format; empty when no subject has a sample. */
export function familyText<S extends Subject>(family: Family<S>, subjects: readonly S[]): string {
  const { name, type, help, timed, each } = family;
  const lines: string[] = [];
  for (const subject of subjects) {
    const stamp = timed ? subject.stamp : lineEnd;
    each(subject, (labels, value) => {
      // NaN and infinity would spoil every sum that a reader makes of them.
      if (value !== undefined && Number.isFinite(value)) lines.push(`${name}${labels}${numberText(value)}${stamp}`);
    });
  }
  return lines.length === 0 ? '' : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

export const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : 1;

export const stampOf = (at: number): string => ` ${Math.round(at)}\n`;

/** `{a="1",b="2"} `, in the order given, ready to stand between a name and a value. */
export const labelText = (pairs: string): string => `{${pairs}} `;

/** What stands for labels where there are none. */
export const noLabels: string = ' ';

/** `name="value"`, escaped. */
export function label(name: string, value: string): string {
  return `${name}="${/["\\\n]/.test(value) ? escapeValue(value) : value}"`;
}

const escapeValue = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');

/** A number as Go's shortest `g` form has it: 0.005, 999999, 1e+06, 1.2345678e+07. */
export function numberText(value: number): string {
  // Between these two, and only there, it is what JavaScript writes.
  if (value >= 1e-4 && value < 1e6) return `${value}`;
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const [digits = '', exponent = ''] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return `${value}`;
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}
