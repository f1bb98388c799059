import { remoteMessageOf } from '../../base/errors.ts';
import { startReasons } from '../../model/reasons.ts';

/** Why a pull failed, as the container's waiting state says it. */
interface PullFailure {
  readonly reason: string;
  readonly message: string;
}

/** Runtimes put these words first to tell two kinds of failure from all others. */
const known: readonly (readonly [reason: string, because: string])[] = [
  [startReasons.registryUnavailable, 'the registry is unavailable'],
  [startReasons.signatureValidationFailed, 'the signature validation failed'],
];

export function pullFailure(image: string, words: string): PullFailure {
  for (const [reason, because] of known) {
    if (!words.startsWith(reason)) continue;
    return { reason, message: `image pull failed for ${image} because ${because}${words.slice(reason.length)}` };
  }
  return { reason: startReasons.errImagePull, message: words };
}

/** What a number of tries came to; what was said more than once is said once. */
export function joinedWords(errors: readonly unknown[]): string {
  const words = [...new Set(errors.map(remoteMessageOf))];
  return words.length === 1 ? (words[0] ?? '') : `[${words.join(', ')}]`;
}
