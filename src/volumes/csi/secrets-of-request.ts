import { secretTexts } from '../../base/mask-errors.ts';
import { tokensKey } from './driver-spec.ts';

/** What a request to a driver holds in confidence, as it may stand in a text: secrets, and tokens of service accounts. */
export function secretsOfRequest(request: unknown): readonly string[] {
  const { secrets = {}, volumeContext = {} } = Object(request) as {
    readonly secrets?: Readonly<Record<string, string>>;
    readonly volumeContext?: Readonly<Record<string, string>>;
  };
  const tokens = volumeContext[tokensKey] ?? '';
  const each = [...tokens.matchAll(/"token":"([^"]+)"/g)].map(([, token]) => token ?? '');
  return secretTexts([...Object.values(secrets), tokens, ...each]);
}
