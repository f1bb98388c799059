/** Stands for a plain scalar that means a merge of other mappings. */
export const mergeKey: unique symbol = Symbol('<<');

export type YamlScalar = string | number | bigint | boolean | null | typeof mergeKey;

const namedScalars = new Map<string, YamlScalar>();
for (const word of ['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'])
  namedScalars.set(word, true);
for (const word of ['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'])
  namedScalars.set(word, false);
for (const word of ['', '~', 'null', 'Null', 'NULL']) namedScalars.set(word, null);
for (const word of ['.nan', '.NaN', '.NAN']) namedScalars.set(word, Number.NaN);
for (const word of ['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'])
  namedScalars.set(word, Number.POSITIVE_INFINITY);
for (const word of ['-.inf', '-.Inf', '-.INF']) namedScalars.set(word, Number.NEGATIVE_INFINITY);
namedScalars.set('<<', mergeKey);

const float = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;
const integers: readonly (readonly [RegExp, string])[] = [
  [/^([-+]?)0[xX]([0-9a-fA-F]+)$/, '0x'],
  [/^([-+]?)0[bB]([01]+)$/, '0b'],
  [/^([-+]?)0[oO]?([0-7]+)$/, '0o'],
  [/^([-+]?)(0|[1-9][0-9]*)$/, ''],
];
const minInteger = -(1n << 63n);
const maxInteger = (1n << 64n) - 1n;

/**
 * What an unquoted scalar means to Go's YAML reader: the words of YAML 1.1 for booleans, integers in four bases with
 * underscores, floats; all else, also times of day and dates, is text.
 */
export function resolvePlain(text: string): YamlScalar {
  const word = namedScalars.get(text);
  if (word !== undefined) return word;
  if (!/^[-+.0-9]/.test(text)) return text;
  // A leading dot takes no underscores, and only a fraction can follow it.
  if (text.startsWith('.')) return float.test(text) ? Number(text) : text;
  const digits = text.replaceAll('_', '');
  return resolveInteger(digits) ?? (float.test(digits) ? finite(digits, text) : text);
}

/** An integer of 64 bits, as a number where that is exact; undefined for other texts and larger numbers. */
function resolveInteger(digits: string): number | bigint | undefined {
  for (const [pattern, prefix] of integers) {
    const [, sign, body] = pattern.exec(digits) ?? [];
    if (body === undefined) continue;
    const magnitude = BigInt(prefix + body);
    const value = sign === '-' ? -magnitude : magnitude;
    // Go reads unsigned integers without a sign only.
    if (value < minInteger || value > (sign === '' ? maxInteger : maxInteger >> 1n)) return undefined;
    const number = Number(value);
    if (!Number.isSafeInteger(number)) return value;
    return number === 0 ? 0 : number;
  }
  return undefined;
}

function finite(digits: string, text: string): number | string {
  const value = Number(digits);
  return Number.isFinite(value) ? value : text;
}
