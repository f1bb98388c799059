import type { PodSpec } from '../gen/kubernetes/types.ts';

/** The runtime handler of a RuntimeClass; the empty handler is the runtime's own default. */
export type HandlerChoice = { readonly handler: string } | { readonly refusal: string };

export interface RuntimeClasses {
  /** The handler of a class; undefined when there is no such class. */
  handlerOf(name: string): string | undefined;
}

/**
 * Finds the runtime handler for a pod. With an API server its RuntimeClass objects name it, and the runtime rejects a
 * handler that it does not know. Without one (`classes` is undefined) there are no such objects: a class name then means
 * the handler of that name, if the runtime announces it.
 */
export function runtimeHandlerFor(
  pod: { readonly spec: Pick<PodSpec, 'runtimeClassName'> },
  classes: RuntimeClasses | undefined,
  announced: ReadonlySet<string>,
): HandlerChoice {
  const name = pod.spec.runtimeClassName ?? '';
  if (name === '') return { handler: '' };
  const handler = classes === undefined ? standaloneHandler(name, announced) : classes.handlerOf(name);
  return handler === undefined ? { refusal: `runtimeclass.node.k8s.io "${name}" not found` } : { handler };
}

function standaloneHandler(name: string, announced: ReadonlySet<string>): string | undefined {
  return announced.has(name) ? name : undefined;
}
