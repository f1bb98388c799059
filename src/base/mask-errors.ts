import { describeError, kindOf, TubeletError } from './errors.ts';
import { mask } from './masked.ts';

/** Shorter values are words like "true": masking them would garble messages and hide no secret. */
const minSecretCharacters = 8;

/** Values as they may stand in a text, by themselves or quoted; the longest first, because one may be part of another. */
export function secretTexts(values: readonly string[]): readonly string[] {
  const secrets = values.filter((value) => value.length >= minSecretCharacters);
  const quoted = secrets.map((value) => JSON.stringify(value).slice(1, -1));
  return [...new Set([...secrets, ...quoted])].toSorted((one, other) => other.length - one.length);
}

export function maskSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((masked, secret) => masked.replaceAll(secret, mask), text);
}

/** The same error with its secrets masked, and without its cause, which repeats them. */
export function maskError(error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof Error)) return error;
  const { remoteMessage, code } = error instanceof TubeletError ? error : {};
  const texts = [describeError(error), remoteMessage ?? ''];
  if (!texts.some((text) => secrets.some((secret) => text.includes(secret)))) return error;
  return new TubeletError(kindOf(error), maskSecrets(error.message, secrets), {
    ...(remoteMessage !== undefined && { remoteMessage: maskSecrets(remoteMessage, secrets) }),
    ...(code !== undefined && { code }),
  });
}
