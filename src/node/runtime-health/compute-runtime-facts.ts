import type { RuntimeCondition, StatusResponse } from '../../gen/cri/api.ts';

/** Features of sandboxes of one runtime handler. */
export interface HandlerFeatures {
  readonly recursiveReadOnlyMounts: boolean;
  readonly userNamespaces: boolean;
}

/** The contents of one status answer of the runtime. */
export interface RuntimeFacts {
  /** Why no pod can run now. */
  readonly runtimeError?: string;
  /** Why no pod can have a network of its own now. */
  readonly networkError?: string;
  /** By name; the empty name is the runtime's default. */
  readonly handlers: ReadonlyMap<string, HandlerFeatures>;
  readonly features: { readonly supplementalGroupsPolicy: boolean };
}

const noFeatures: HandlerFeatures = { recursiveReadOnlyMounts: false, userNamespaces: false };

/** Old runtimes report neither handlers nor features: what is not reported counts as missing. */
export function computeRuntimeFacts(response: StatusResponse): RuntimeFacts {
  const conditions = response.status?.conditions ?? [];
  const runtime = conditions.find(({ type }) => type === 'RuntimeReady');
  const network = conditions.find(({ type }) => type === 'NetworkReady');
  return {
    ...(runtime?.status !== true && { runtimeError: `container runtime not ready: ${describe(runtime)}` }),
    ...(network?.status !== true && { networkError: `container runtime network not ready: ${describe(network)}` }),
    handlers: new Map(response.runtimeHandlers.map(({ name, features }) => [name, features ?? noFeatures])),
    features: { supplementalGroupsPolicy: response.features?.supplementalGroupsPolicy === true },
  };
}

/** A condition that the runtime does not report does not count as true. */
function describe(condition: RuntimeCondition | undefined): string {
  if (condition === undefined) return '<nil>';
  const { type, status, reason, message } = condition;
  return `${type}=${status} reason:${reason} message:${message}`;
}
