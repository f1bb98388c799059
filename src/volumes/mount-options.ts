import { TubeletError } from '../base/errors.ts';

/** Options that make mount(8) do something else than mount this one file system. */
const otherDeeds: ReadonlySet<string> = new Set([
  'bind',
  'rbind',
  'move',
  'remount',
  'loop',
  'helper',
  'uhelper',
  ...['shared', 'slave', 'private', 'unbindable'].flatMap((how) => [how, `r${how}`, `make-${how}`, `make-r${how}`]),
]);

/**
 * The options of a PersistentVolume with the agent's own, sorted and without repeats. Refuses options that would make
 * mount(8) do something else than mount this file system.
 */
export function mountOptions(wanted: readonly string[], own: readonly string[]): readonly string[] {
  const all = [...new Set([...wanted, ...own])].filter((option) => option !== '');
  for (const option of all.flatMap((text) => text.split(','))) {
    const [word = ''] = option.split('=', 1);
    if (/[\s\p{Cc}]/u.test(option) || otherDeeds.has(word) || /^x-mount\./i.test(word)) {
      throw new TubeletError('invalid', `mount option ${JSON.stringify(option)} is not allowed`);
    }
  }
  return all.toSorted();
}
