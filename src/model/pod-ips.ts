/** At most one address of each family, that of the node's first address leading. */
export function sortedPodIps(podIps: readonly string[], hostIps: readonly string[]): readonly string[] {
  const isIpv6 = (ip: string): boolean => ip.includes(':');
  const primaryIsIpv6 = isIpv6(hostIps[0] ?? podIps[0] ?? '');
  const families = [primaryIsIpv6, !primaryIsIpv6];
  return families.flatMap((ipv6) => podIps.filter((ip) => isIpv6(ip) === ipv6).slice(0, 1));
}
