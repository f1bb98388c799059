import { isIPv4, isIPv6 } from 'node:net';
import { TubeletError } from '../../base/errors.ts';
import { implicit, objectId, sequence, setOf, text } from './der.ts';

export interface X509Subject {
  readonly commonName: string;
  readonly organizations?: readonly string[];
}

export interface X509AlternativeNames {
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
}

const organization = objectId('2.5.4.10');
const commonName = objectId('2.5.4.3');

/** Organizations first and in one set, as Go writes them. */
export function encodeSubject({ commonName: name, organizations = [] }: X509Subject): Buffer {
  const groups = organizations.map((value) => sequence(organization, text(value)));
  return sequence(...(groups.length > 0 ? [setOf(...groups)] : []), setOf(sequence(commonName, text(name))));
}

/** Undefined when there is none: an empty extension is not allowed. */
export function encodeAlternativeNames(names: X509AlternativeNames): Buffer | undefined {
  const { dnsNames = [], ipAddresses = [] } = names;
  const items = [
    ...dnsNames.map((name) => implicit(2, Buffer.from(name, 'latin1'))),
    ...ipAddresses.map((address) => implicit(7, addressBytes(address))),
  ];
  return items.length === 0 ? undefined : sequence(...items);
}

export function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  if (!isIPv6(address) || address.includes('%')) throw new TubeletError('invalid', `${address} is not an IP address`);
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const whole = dotted === null ? address : withHexTail(dotted);
  const [head = '', tail] = whole.split('::');
  const left = groupsOf(head);
  const right = groupsOf(tail ?? '');
  const missing = tail === undefined ? 0 : 8 - left.length - right.length;
  const groups = [...left, ...Array.from({ length: missing }, () => 0), ...right];
  return Buffer.from(groups.flatMap((group) => [group >>> 8, group & 0xff]));
}

function groupsOf(text: string): readonly number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}

/** An IPv6 address may end in the dotted form of an IPv4 one. */
function withHexTail([, head = '', ...bytes]: RegExpExecArray): string {
  const [a = 0, b = 0, c = 0, d = 0] = bytes.map(Number);
  return `${head}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}
