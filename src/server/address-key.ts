/**
 * What counts as one address: an IPv4 address however it is written, and the network of 64 bits of an IPv6 address,
 * because one host has all of it. Link-local addresses share theirs with all neighbours, and count by themselves.
 */
export function addressKey(address: string): string {
  const v4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (v4 !== undefined) return v4;
  const text = address.toLowerCase();
  if (!text.includes(':') || text.startsWith('fe80:')) return text;
  const [head = '', tail] = text.split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const missing = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array.from({ length: missing }, () => '0'), ...back].slice(0, 4);
  return `${groups.map((group) => group.replace(/^0+(?=.)/, '')).join(':')}::/64`;
}
