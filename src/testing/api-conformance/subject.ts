import type { ApiConnection } from '../../apiserver/index.ts';

/** An API server to be examined. */
export interface ApiSubject {
  /** As an administrator. */
  readonly connection: ApiConnection;
  /** Makes the server forget every version before now. It may be away meanwhile. */
  forget(): Promise<void>;
  stop(): Promise<void>;
}
