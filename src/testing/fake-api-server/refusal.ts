import type { Status } from '../../gen/kubernetes/types.ts';
import type { FakeKind } from './kinds.ts';

interface RefusalOptions {
  readonly reason?: string;
  readonly details?: Status['details'];
  /** Of the Status, such as the token to go on with. */
  readonly metadata?: Status['metadata'];
  readonly retryAfterSeconds?: number;
}

/** An answer that is no success, as a kube-apiserver words it. */
export class Refusal extends Error {
  readonly code: number;
  readonly options: RefusalOptions;

  constructor(code: number, message: string, options: RefusalOptions = {}) {
    super(message);
    this.code = code;
    this.options = options;
  }

  toStatus(): Status {
    const { reason, details, metadata, retryAfterSeconds } = this.options;
    const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: metadata ?? {},
      status: 'Failure',
      message: this.message,
      ...(reason !== undefined && { reason }),
      ...((details !== undefined || retryAfterSeconds !== undefined) && { details: { ...details, ...wait } }),
      code: this.code,
    };
  }

  get headers(): Readonly<Record<string, string>> {
    const { retryAfterSeconds } = this.options;
    return retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  }
}

/** `pods` or `leases.coordination.k8s.io`. */
const qualified = (name: string, group: string): string => (group === '' ? name : `${name}.${group}`);
const inGroup = (group: string): { readonly group?: string } => (group === '' ? {} : { group });

export function notFound({ plural, group }: FakeKind, name: string): Refusal {
  return new Refusal(404, `${qualified(plural, group)} "${name}" not found`, {
    reason: 'NotFound',
    details: { name, ...inGroup(group), kind: plural },
  });
}

export function alreadyExists({ plural, group }: FakeKind, name: string): Refusal {
  return new Refusal(409, `${qualified(plural, group)} "${name}" already exists`, {
    reason: 'AlreadyExists',
    details: { name, ...inGroup(group), kind: plural },
  });
}

export function conflict({ plural, group }: FakeKind, name: string, why: string): Refusal {
  return new Refusal(409, `Operation cannot be fulfilled on ${qualified(plural, group)} "${name}": ${why}`, {
    reason: 'Conflict',
    details: { name, ...inGroup(group), kind: plural },
  });
}

/** Preconditions are told with the kind's name instead of the resource's. */
export function preconditionFailed({ kind, group }: FakeKind, name: string, why: string): Refusal {
  return conflict({ plural: kind, group } as FakeKind, name, why);
}

export const modified = 'the object has been modified; please apply your changes to the latest version and try again';

interface FieldFault {
  readonly field: string;
  readonly reason: 'FieldValueInvalid' | 'FieldValueRequired' | 'FieldValueForbidden' | 'FieldValueNotSupported';
  /** With its first words, such as `Invalid value: "x": …`. */
  readonly message: string;
}

/** `named` is what the object is called there: its kind mostly, its resource sometimes. */
export function invalid(named: string, group: string, name: string, ...faults: readonly FieldFault[]): Refusal {
  const said = [...new Set(faults.map(({ field, message }) => `${field}: ${message}`))];
  const words = said.length === 1 ? said[0] : `[${said.join(', ')}]`;
  return new Refusal(422, `${qualified(named, group)} "${name}" is invalid: ${words}`, {
    reason: 'Invalid',
    details: { ...(name !== '' && { name }), ...inGroup(group), kind: named, causes: [...faults] },
  });
}

export const badRequest = (message: string): Refusal => new Refusal(400, message, { reason: 'BadRequest' });

/** An error that no one gave a reason to. */
export const internal = (message: string): Refusal => new Refusal(500, message);

export const noSuchPath = (): Refusal =>
  new Refusal(404, 'the server could not find the requested resource', { reason: 'NotFound', details: {} });

export const methodNotAllowed = (): Refusal =>
  new Refusal(405, 'the server does not allow this method on the requested resource', {
    reason: 'MethodNotAllowed',
    details: {},
  });

export const unsupportedMediaType = (): Refusal =>
  new Refusal(415, '415: Unsupported Media Type', { reason: 'UnsupportedMediaType', details: {} });

export const unprocessable = (): Refusal =>
  new Refusal(422, 'the server rejected our request due to an error in our request', {
    reason: 'Invalid',
    details: {},
  });

export const expired = (message: string, token?: string): Refusal =>
  new Refusal(410, message, { reason: 'Expired', ...(token !== undefined && { metadata: { continue: token } }) });

export function tooNew(asked: number, current: number, retryAfterSeconds?: number): Refusal {
  return new Refusal(504, `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    reason: 'Timeout',
    details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] },
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}
