import type { Clock } from '../base/clock.ts';
import { kindOf, messageOf, type ErrorKind } from '../base/errors.ts';
import type { Log, LogFields } from '../base/log.ts';
import { podFields } from '../model/pod-log.ts';
import type { Invoke } from './invoke.ts';
import type { CriVerb } from './verbs.ts';

/** Called for every finished call, for metrics. */
export type ObserveCall = (verb: CriVerb, seconds: number, failure: ErrorKind | undefined) => void;

/** Decorator: measures each call and logs it at verbosity 5. */
export function withObservation(
  next: Invoke,
  clock: Pick<Clock, 'monotonic'>,
  log: Log,
  observe: ObserveCall | undefined,
): Invoke {
  return async (invocation) => {
    const { verb } = invocation;
    const fields = { verb, ...subjectFields(invocation.request) };
    const began = clock.monotonic();
    const done = (failure: unknown): void => {
      const seconds = (clock.monotonic() - began) / 1_000;
      observe?.(verb, seconds, failure === undefined ? undefined : kindOf(failure));
      if (failure === undefined) log.debug(5, 'Runtime call done', { ...fields, seconds });
      else log.debug(5, 'Runtime call failed', { ...fields, seconds, err: messageOf(failure) });
    };
    log.debug(6, 'Runtime call', fields);
    try {
      const response = await next(invocation);
      done(undefined);
      return response;
    } catch (error) {
      done(error);
      throw error;
    }
  };
}

/** The subject of a call, by name only: requests contain environments, commands and registry passwords. */
export function subjectOf(request: unknown): LogFields {
  if (typeof request !== 'object' || request === null) return {};
  const fields: Record<string, string> = {};
  for (const key of ['podSandboxId', 'containerId'] as const) {
    const value: unknown = Reflect.get(request, key);
    if (typeof value === 'string' && value !== '') fields[key] = value;
  }
  const image = field(Reflect.get(request, 'image'), 'image');
  if (image !== undefined) fields['image'] = image;
  const metadata: unknown = Reflect.get(Object(Reflect.get(request, 'config')), 'metadata');
  for (const key of ['namespace', 'name']) {
    const value = field(metadata, key);
    if (value !== undefined) fields[key] = value;
  }
  return fields;
}

/** The subject in the fields by which every log line names a pod and its containers. */
function subjectFields(request: unknown): LogFields {
  const { podSandboxId, containerId, image, namespace } = subjectOf(request);
  const config = metadataOf(request, 'config');
  const pod = namespace === undefined ? metadataOf(request, 'sandboxConfig') : config;
  const containerName = namespace === undefined ? field(config, 'name') : undefined;
  return {
    ...podFields({ namespace: field(pod, 'namespace'), name: field(pod, 'name'), uid: field(pod, 'uid') }),
    ...(podSandboxId !== undefined && { podSandboxID: podSandboxId }),
    ...(containerName !== undefined && { containerName }),
    ...(containerId !== undefined && { containerID: containerId }),
    ...(image !== undefined && { image }),
  };
}

function metadataOf(request: unknown, key: string): unknown {
  return Reflect.get(Object(Reflect.get(Object(request), key)), 'metadata');
}

function field(holder: unknown, key: string): string | undefined {
  const value: unknown = Reflect.get(Object(holder), key);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
