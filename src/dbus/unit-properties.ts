import { TubeletError } from '../base/errors.ts';
import { goQuote } from '../model/go-text.ts';
import type { UnitProperty, UnitValue } from '../model/systemd-units.ts';
import type { DBusValue } from './values.ts';

/** A property as (sv). */
export function asMessageValue({ name, value: { type, value } }: UnitProperty): DBusValue {
  return [name, { signature: type, value }];
}

/** Properties as Go prints them in the error of a start. */
export function propertiesText(properties: readonly UnitProperty[]): string {
  return `[${properties.map(({ name, value }) => `{Name:${name} Value:${valueText(value)}}`).join(' ')}]`;
}

function valueText({ type, value }: UnitValue): string {
  if (type === 's') return goQuote(value);
  if (type === 'as') return value.length === 0 ? '@as []' : `[${value.map(goQuote).join(', ')}]`;
  if (type === 'ay') return `@ay [${[...value].map((byte) => `0x${byte.toString(16)}`).join(', ')}]`;
  return type === 't' ? `@t ${value}` : String(value);
}

/** `v252.39-1~deb12u1` → 252 */
export function versionNumber(version: string): number {
  const digits = /^v?(\d+)/.exec(version)?.[1];
  if (digits === undefined) throw new TubeletError('invalid', `"${version}" is no version of systemd`);
  return Number(digits);
}
