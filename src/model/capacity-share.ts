import { TubeletError } from '../base/errors.ts';
import { Quantity } from './quantity.ts';

/** An amount of a resource: itself, or a part of what there is. The part has 32 bits, as at other kubelets. */
export type CapacityShare = { readonly quantity: Quantity } | { readonly fraction: number };

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** The number before a percent sign; undefined for a text without one. */
export function percentOf(text: string): number | undefined {
  if (!text.endsWith('%')) return undefined;
  const number = text.replace(/%+$/, '');
  if (!decimal.test(number)) throw new TubeletError('invalid', `invalid percentage ${JSON.stringify(text)}`);
  return Math.fround(Number(number));
}

export function parseShare(text: string): CapacityShare {
  const percent = percentOf(text);
  return percent === undefined ? { quantity: Quantity.parse(text) } : { fraction: Math.fround(percent / 100) };
}

/** Parts of a unit are cut off. */
export function amountOf(share: CapacityShare, capacity: Quantity): Quantity {
  if ('quantity' in share) return share.quantity;
  return Quantity.ofValue(BigInt(Math.trunc(Number(capacity.value()) * share.fraction)), 'binarySI');
}
