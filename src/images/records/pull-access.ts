import type { Credential } from '../credentials/credential.ts';
import type { PullJournal } from '../pulls/puller.ts';

/** Which pods may use images that are on the node, by the records of their pulls. */
export interface PullAccess extends PullJournal {
  /** Whether `mayUse` may refuse. */
  readonly isChecked: boolean;
  mayUse(image: string, ref: string, credentials: () => Promise<readonly Credential[]>): Promise<boolean>;
}

/** Records nothing; every pod may use the images that are on the node. */
export const noPullRecords: PullAccess = {
  isChecked: false,
  mayUse: async () => true,
  began: async () => {},
  pulled: async () => {},
  failed: async () => {},
};
