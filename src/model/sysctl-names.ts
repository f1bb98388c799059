/** Names may be written as paths below /proc/sys. The first separator decides which form it is; the other one is then literal. */
export function dottedSysctl(name: string): string {
  const first = /[./]/.exec(name)?.[0];
  return first === '/' ? name.replace(/[./]/g, (separator) => (separator === '/' ? '.' : '/')) : name;
}
