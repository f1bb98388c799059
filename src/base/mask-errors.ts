import { TubeletError } from './errors.ts';
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

/** The same error without what must not be seen; the cause says it all once more, so it goes. */
export function maskError(error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof TubeletError) || secrets.length === 0) return error;
  const message = maskSecrets(error.message, secrets);
  const words = error.words === undefined ? undefined : maskSecrets(error.words, secrets);
  if (message === error.message && words === error.words) return error;
  return new TubeletError(error.kind, message, {
    ...(words !== undefined && { words }),
    ...(error.code !== undefined && { code: error.code }),
  });
}
