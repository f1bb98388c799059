import type { Caller } from '../../model/caller.ts';
import type { Right } from '../route.ts';
import type { Authorizer } from './ports.ts';

/** What a caller must be allowed for one request. */
interface RequiredAccess {
  /** In the words of a SubjectAccessReview; empty for methods that have none. */
  readonly verb: string;
  /** Any of them is enough; asked for in this order. */
  readonly subresources: readonly string[];
  /** Needed besides `verb`, on any of the same subresources. */
  readonly alsoVerb?: 'create';
}

export interface AccessOptions {
  /** The gate KubeletFineGrainedAuthz. */
  readonly fineGrained: boolean;
  /** As lenient as upstream: what a route asks for besides the verb of the method is waived. */
  readonly upstreamVerbs: boolean;
}

/** Bodies are what the client reads; `reason` and `error` are for the log alone. */
type AccessDecision =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'denied'; readonly body: string; readonly reason: string | undefined }
  | { readonly kind: 'error'; readonly body: string; readonly error: unknown };

const verbs: ReadonlyMap<string, string> = new Map([
  ['GET', 'get'],
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);

/** The verb a method stands for. HEAD has none, as upstream has it: only callers that may do everything may use it. */
export function verbOf(method: string): string {
  return verbs.get(method) ?? '';
}

/** The subresources of which one is enough, in the order they are asked for. */
function subresourcesOf(right: Right, fineGrained: boolean): readonly string[] {
  if (right.fine === undefined) return [right.subresource];
  return fineGrained ? [right.subresource, 'proxy'] : ['proxy'];
}

export function accessFor(right: Right, method: string, options: AccessOptions): RequiredAccess {
  const verb = verbOf(method);
  const subresources = subresourcesOf(right, options.fineGrained);
  const { alsoVerb } = right;
  if (alsoVerb === undefined || options.upstreamVerbs || verb === alsoVerb) return { verb, subresources };
  return { verb, subresources, alsoVerb };
}

/** Asks for each thing needed, in order; what cannot be found out ends it, as does the first thing refused. */
export async function decideAccess(
  authorizer: Authorizer,
  caller: Caller,
  access: RequiredAccess,
  signal: AbortSignal,
): Promise<AccessDecision> {
  const { verb, subresources, alsoVerb } = access;
  for (const wanted of alsoVerb === undefined ? [verb] : [verb, alsoVerb]) {
    const decision = await decideVerb(authorizer, caller, wanted, subresources, signal);
    if (decision.kind !== 'allowed') return decision;
  }
  return { kind: 'allowed' };
}

async function decideVerb(
  authorizer: Authorizer,
  caller: Caller,
  verb: string,
  subresources: readonly string[],
  signal: AbortSignal,
): Promise<AccessDecision> {
  const attempt = `(user=${caller.name}, verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(' ')}])`;
  const reasons: string[] = [];
  try {
    for (const subresource of subresources) {
      const verdict = await authorizer.authorize(caller, { verb, subresource }, signal);
      if (verdict.allowed) return { kind: 'allowed' };
      if (verdict.reason !== undefined && verdict.reason !== '') reasons.push(verdict.reason);
    }
  } catch (error) {
    return { kind: 'error', body: `Authorization error ${attempt}`, error };
  }
  return {
    kind: 'denied',
    body: `Forbidden ${attempt}`,
    reason: reasons.length === 0 ? undefined : reasons.join('; '),
  };
}
