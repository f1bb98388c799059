import { maskError, maskSecrets, secretTexts } from '../base/mask-errors.ts';
import type {
  ContainerStatusResponse,
  CreateContainerRequest,
  CreateContainerResponse,
  ExecSyncRequest,
  PullImageRequest,
  RemoveContainerRequest,
  StartContainerRequest,
} from '../gen/cri/api.ts';
import type { Invoke } from './invoke.ts';
import type { UnaryVerb } from './verbs.ts';

/** Limit of remembered containers whose start failed, or has not been tried yet. */
const maxRemembered = 500;
const maxRememberedBytes = 16 * 1024 * 1024;

/**
 * Decorator: secrets that the runtime was given do not come back in its errors, which go into statuses, events,
 * logs and traces. Runtimes and their plugins quote environments, commands and credentials when they refuse them.
 */
export function withMaskedErrors(next: Invoke): Invoke {
  const created = new CreatedContainers();
  return async (invocation) => {
    try {
      const response = await next(invocation);
      settle(invocation.verb, invocation.request, response, created);
      return response;
    } catch (error) {
      throw maskError(error, secretsOf(invocation.verb, invocation.request, created));
    }
  };
}

/**
 * A container is remembered from its creation until it runs, and one that never ran until it is removed. Beyond the
 * limit the oldest are forgotten.
 */
class CreatedContainers {
  readonly #secrets = new Map<string, readonly string[]>();
  #bytes = 0;

  secretsOf(id: string): readonly string[] {
    return this.#secrets.get(id) ?? [];
  }

  remember(id: string, secrets: readonly string[]): void {
    if (secrets.length === 0) return;
    this.#secrets.set(id, secrets);
    this.#bytes += sizeOf(secrets);
    for (const oldest of this.#secrets.keys()) {
      if (this.#secrets.size <= maxRemembered && this.#bytes <= maxRememberedBytes) return;
      this.forget(oldest);
    }
  }

  forget(id: string): void {
    this.#bytes -= sizeOf(this.secretsOf(id));
    this.#secrets.delete(id);
  }
}

function sizeOf(secrets: readonly string[]): number {
  return secrets.reduce((sum, { length }) => sum + length, 0);
}

function settle(verb: UnaryVerb, request: unknown, response: unknown, created: CreatedContainers): void {
  if (verb === 'createContainer') {
    const secrets = secretsOfContainer(request as CreateContainerRequest);
    created.remember((response as CreateContainerResponse).containerId, secrets);
  } else if (verb === 'startContainer' || verb === 'removeContainer') {
    created.forget((request as StartContainerRequest | RemoveContainerRequest).containerId);
  } else if (verb === 'containerStatus') {
    // Its status contains the reason of a failed start for as long as it exists.
    const { status } = response as ContainerStatusResponse;
    if (status !== undefined) status.message = maskSecrets(status.message, created.secretsOf(status.id));
  }
}

function secretsOf(verb: UnaryVerb, request: unknown, created: CreatedContainers): readonly string[] {
  if (verb === 'createContainer') return secretsOfContainer(request as CreateContainerRequest);
  if (verb === 'startContainer') return created.secretsOf((request as StartContainerRequest).containerId);
  if (verb === 'pullImage') return secretsOfPull(request as PullImageRequest);
  if (verb !== 'execSync') return [];
  // An error is about the program itself; its arguments may be passwords.
  const [program = '', ...rest] = (request as ExecSyncRequest).cmd;
  return worthMasking(rest, [], program);
}

function secretsOfPull({ auth }: PullImageRequest): readonly string[] {
  if (auth === undefined) return [];
  const { username, password, identityToken, registryToken } = auth;
  const basic = password === '' ? '' : Buffer.from(`${username}:${password}`).toString('base64');
  return worthMasking([password, identityToken, registryToken, auth.auth, basic], []);
}

/**
 * Values of variables and of headers of hooks. A value that is also a path, a name or the program of the container is
 * not a secret: errors must be able to name those.
 */
export function secretsOfContainer({ config }: CreateContainerRequest): readonly string[] {
  if (config === undefined) return [];
  const plain = [
    config.workingDir,
    config.image?.image ?? '',
    ...config.mounts.flatMap(({ containerPath, hostPath }) => [containerPath, hostPath]),
    ...Object.values(config.labels),
  ];
  const headers = Object.values(config.annotations).flatMap(headerValues);
  const [program = ''] = config.command;
  return worthMasking([...config.envs.map(({ value }) => value.toString('utf8')), ...headers], plain, program);
}

/** Hooks are passed as JSON in an annotation. */
function headerValues(annotation: string): readonly string[] {
  if (!annotation.includes('"httpHeaders"')) return [];
  return [...annotation.matchAll(/"value":("(?:[^"\\]|\\.)*")/g)].map(([, text]) => JSON.parse(text ?? '""') as string);
}

function worthMasking(values: readonly string[], plain: readonly string[], program = ''): readonly string[] {
  return secretTexts(
    values.filter((value) => !program.startsWith(value) && !plain.some((text) => text.includes(value))),
  );
}
