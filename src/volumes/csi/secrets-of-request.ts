import { secretTexts } from '../../base/mask-errors.ts';
import { tokensKey } from './driver-spec.ts';

/** The secrets and service account tokens of a request to a driver, in the forms in which a text may quote them. */
export function secretsOfRequest(request: unknown): readonly string[] {
  const { secrets = {}, volumeContext = {} } = Object(request) as {
    readonly secrets?: Readonly<Record<string, string>>;
    readonly volumeContext?: Readonly<Record<string, string>>;
  };
  const tokens = volumeContext[tokensKey] ?? '';
  const each = [...tokens.matchAll(/"token":"([^"]+)"/g)].map(([, token]) => token ?? '');
  return secretTexts([...Object.values(secrets), tokens, ...each]);
}
