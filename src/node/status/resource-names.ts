/** Resources of vendors, announced by plugins or by an operator. */
export function isExtendedResource(name: string): boolean {
  return name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.');
}

export function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-');
}
