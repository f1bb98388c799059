import type { Credential } from '../credentials/credential.ts';
import type { PullJournal } from '../pulls/puller.ts';

/** Who may use images that are on the node, as those who pull them have it recorded. */
export interface PullAccess extends PullJournal {
  /** Whether anyone can be refused. */
  readonly isChecked: boolean;
  mayUse(image: string, ref: string, credentials: () => Promise<readonly Credential[]>): Promise<boolean>;
}

/** Nothing is recorded, and images that are on the node are everybody's. */
export const noPullRecords: PullAccess = {
  isChecked: false,
  mayUse: async () => true,
  began: async () => {},
  pulled: async () => {},
  failed: async () => {},
};
