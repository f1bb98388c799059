import { createHash } from 'node:crypto';
import { Masked } from '../../base/masked.ts';
import { goJson } from '../../model/go-text.ts';

export interface RegistryAuth {
  readonly username: string;
  readonly password: string;
  readonly email?: string;
}

/** Which pods a credential is for: all pods of the node, or those that can name a secret or run as an account. */
export type CredentialSource =
  | { readonly kind: 'node' }
  | ({ readonly kind: 'secret' } & ObjectCoordinates)
  | ({ readonly kind: 'serviceAccount' } & ObjectCoordinates);

export interface ObjectCoordinates {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** One way to authenticate to a registry. */
export interface Credential {
  readonly auth: Masked<RegistryAuth>;
  /** The same for the same credential wherever it came from. Masked as well: short passwords can be found by trying. */
  readonly hash: Masked<string>;
  readonly source: CredentialSource;
}

export const nodeSource: CredentialSource = { kind: 'node' };

export function makeCredential(auth: Masked<RegistryAuth>, source: CredentialSource): Credential {
  return { auth, hash: new Masked(hashOf(auth.reveal())), source };
}

/** Pull records on disk hold this hash, so it is made the way a Go kubelet makes it: of JSON without empty fields. */
function hashOf({ username, password, email }: RegistryAuth): string {
  const json = goJson({
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
    ...(email !== undefined && email !== '' && { email }),
  });
  return createHash('sha256').update(json).digest('hex');
}
