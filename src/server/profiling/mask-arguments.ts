import { mask, maskAddress } from '../../base/masked.ts';

/** Flags whose values are secrets. */
const secretFlag = /header|password|secret|token(?!-webhook)/;

/** A command line as it may be shown: values of secret flags and passwords in addresses are masked. */
export function maskArguments(argv: readonly string[]): readonly string[] {
  const shown: string[] = [];
  let hideNext = false;
  for (const word of argv) {
    const flag = /^--?([\w-]+)(=?)/.exec(word);
    const isSecret = flag?.[1] !== undefined && secretFlag.test(flag[1].replaceAll('_', '-'));
    if (hideNext && flag === null) shown.push(mask);
    else if (isSecret && flag[2] === '=') shown.push(`${flag[0]}${mask}`);
    else shown.push(maskAddress(word));
    hideNext = isSecret && flag[2] === '';
  }
  return shown;
}
