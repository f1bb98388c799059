/** The authenticated user of a request. */
export interface Caller {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What a caller wants to do to this node, in the terms of a SubjectAccessReview. */
export interface NodeAccess {
  /** `get`, `create`, `update`, `patch`, `delete`; empty for methods that have none. */
  readonly verb: string;
  readonly subresource: string;
}

export const anonymousCaller: Caller = Object.freeze({
  name: 'system:anonymous',
  groups: Object.freeze(['system:unauthenticated']),
});
