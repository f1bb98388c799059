/** An IPv4 range as numbers: first and last address. */
interface Range {
  readonly first: number;
  readonly last: number;
}

/** 10.64.0.0/10: the part of the private ranges that home routers and cloud networks use least. */
const poolFirst = (10 * 256 + 64) * 65_536;
const poolSize = 64 * 256;

export interface Subnet {
  readonly cidr: string;
  readonly gateway: string;
  readonly prefix: number;
}

/**
 * A /24 that none of `taken` (CIDRs or single addresses of routes and interfaces) overlaps. Each instance starts its
 * search elsewhere, so that two that start together do not choose the same range. Undefined when all are taken.
 */
export function chooseSubnet(id: string, taken: readonly string[]): Subnet | undefined {
  const used = taken.map(parseCidr).filter((range) => range !== undefined);
  const start = Number.parseInt(id, 16) % poolSize;
  for (let step = 0; step < poolSize; step++) {
    const first = poolFirst + ((start + step) % poolSize) * 256;
    const last = first + 255;
    if (used.some((range) => range.first <= last && first <= range.last)) continue;
    return { cidr: `${formatAddress(first)}/24`, gateway: formatAddress(first + 1), prefix: 24 };
  }
  return undefined;
}

/** The gateway of a subnet chosen earlier. */
export function subnetFromCidr(cidr: string): Subnet | undefined {
  const range = parseCidr(cidr);
  if (range === undefined) return undefined;
  return { cidr, gateway: formatAddress(range.first + 1), prefix: Number(cidr.split('/')[1] ?? 32) };
}

/** Undefined for anything but IPv4, and for the default route, which contains every range. */
export function parseCidr(text: string): Range | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:\/(\d{1,2}))?$/.exec(text);
  if (match === null) return undefined;
  const parts = match.slice(1, 5).map(Number);
  const prefix = Number(match[5] ?? 32);
  if (parts.some((part) => part > 255) || prefix > 32 || prefix === 0) return undefined;
  const address = parts.reduce((sum, part) => sum * 256 + part, 0);
  const size = 2 ** (32 - prefix);
  const first = Math.floor(address / size) * size;
  return { first, last: first + size - 1 };
}

function formatAddress(address: number): string {
  return [16_777_216, 65_536, 256, 1].map((unit) => Math.floor(address / unit) % 256).join('.');
}
