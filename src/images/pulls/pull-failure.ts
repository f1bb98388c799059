import { remoteMessageOf } from '../../base/errors.ts';
import { startReasons } from '../../model/reasons.ts';

/** Why a pull failed, as the container's waiting state says it. */
interface PullFailure {
  readonly reason: string;
  readonly message: string;
}

/** Prefixes by which runtimes mark two kinds of failure. */
const known: readonly (readonly [reason: string, because: string])[] = [
  [startReasons.registryUnavailable, 'the registry is unavailable'],
  [startReasons.signatureValidationFailed, 'the signature validation failed'],
];

export function pullFailure(image: string, remoteMessage: string): PullFailure {
  for (const [reason, because] of known) {
    if (!remoteMessage.startsWith(reason)) continue;
    return {
      reason,
      message: `image pull failed for ${image} because ${because}${remoteMessage.slice(reason.length)}`,
    };
  }
  return { reason: startReasons.errImagePull, message: remoteMessage };
}

/** The messages of several tries, each once. */
export function joinedMessages(errors: readonly unknown[]): string {
  const messages = [...new Set(errors.map(remoteMessageOf))];
  return messages.length === 1 ? (messages[0] ?? '') : `[${messages.join(', ')}]`;
}
