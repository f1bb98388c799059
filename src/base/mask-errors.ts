import { describeError, kindOf, TubeletError } from './errors.ts';
import { mask } from './masked.ts';

/** Shorter values are words like "true" that stand in every other sentence. */
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

/** The same error without what must not be seen; its cause says it all once more, so that goes. */
export function maskError(error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof Error)) return error;
  const { words, code } = error instanceof TubeletError ? error : {};
  const told = [describeError(error), words ?? ''];
  if (!told.some((text) => secrets.some((secret) => text.includes(secret)))) return error;
  return new TubeletError(kindOf(error), maskSecrets(error.message, secrets), {
    ...(words !== undefined && { words: maskSecrets(words, secrets) }),
    ...(code !== undefined && { code }),
  });
}
