import type { Clock } from '../../base/clock.ts';
import { kindOf, TubeletError } from '../../base/errors.ts';
import { Limiter } from '../../base/limiter.ts';
import {
  AuthConfig,
  ImageStatusRequest,
  PullImageRequest,
  type Image,
  type PodSandboxConfig,
} from '../../gen/cri/api.ts';
import type { Credential } from '../credentials/credential.ts';
import type { ImageService } from '../ports.ts';
import { joinedMessages } from './pull-failure.ts';
import { SharedWork } from './shared-work.ts';
import { TokenBucket, type Rate } from '../../base/token-bucket.ts';

/** Records pulls before and after they happen, with their credentials. */
export interface PullJournal {
  /** A pull is about to begin; it must not when this fails. */
  began(image: string): Promise<void>;
  pulled(image: string, ref: string, credential: Credential | undefined): Promise<void>;
  failed(image: string): Promise<void>;
}

interface PullerDeps {
  readonly clock: Clock;
  readonly service: ImageService;
  /** How many pulls may run at once. */
  readonly parallel: number;
  readonly rate: Rate;
  readonly journal: PullJournal;
}

interface PullRequest {
  readonly image: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly runtimeHandler: string;
  readonly sandboxConfig: PodSandboxConfig | undefined;
  /** Tried in turn until one succeeds; without any the pull is anonymous. */
  readonly credentials: readonly Credential[];
}

interface PulledImage {
  readonly ref: string;
  readonly image: Image | undefined;
  /** Without the time in the queue. */
  readonly tookMs: number;
}

/**
 * Pulls images: a few at a time in order of arrival, at a limited rate, and one pull for all pods that need the same image
 * with the same credentials.
 */
export class Puller {
  readonly #deps: PullerDeps;
  readonly #line: Limiter;
  readonly #bucket: TokenBucket;
  readonly #shared = new SharedWork<PulledImage>();

  constructor(deps: PullerDeps) {
    this.#deps = deps;
    this.#line = new Limiter(deps.parallel);
    this.#bucket = new TokenBucket(deps.clock, deps.rate);
  }

  pull(request: PullRequest, signal: AbortSignal): Promise<PulledImage> {
    const { image, runtimeHandler, credentials } = request;
    // Credentials are part of the key, so that a pod does not get an image by joining another pod's pull.
    const key = JSON.stringify([image, runtimeHandler, ...credentials.map(({ hash }) => hash.reveal())]);
    return this.#shared.run(key, (all) => this.#line.run(() => this.#pullNow(request, all), all), signal);
  }

  async #pullNow(request: PullRequest, signal: AbortSignal): Promise<PulledImage> {
    if (!this.#bucket.tryTake()) throw new TubeletError('exhausted', 'pull QPS exceeded');
    const { clock, service, journal } = this.#deps;
    const { image, annotations, runtimeHandler } = request;
    await journal.began(image);
    const began = clock.monotonic();
    let ref: string;
    let credential: Credential | undefined;
    try {
      ({ ref, credential } = await this.#tryEach(request, signal));
    } catch (error) {
      await journal.failed(image);
      throw error;
    }
    const tookMs = clock.monotonic() - began;
    let found: Image | undefined;
    try {
      const spec = { image, annotations, runtimeHandler };
      ({ image: found } = await service.imageStatus(ImageStatusRequest.fromPartial({ image: spec }), { signal }));
    } finally {
      // Recorded under the image's id, which not every runtime returns from a pull.
      await journal.pulled(image, found?.id ?? ref, credential);
    }
    return { ref, image: found, tookMs };
  }

  async #tryEach(
    request: PullRequest,
    signal: AbortSignal,
  ): Promise<{ readonly ref: string; readonly credential: Credential | undefined }> {
    const { image, annotations, runtimeHandler, sandboxConfig, credentials } = request;
    const errors: unknown[] = [];
    for (const credential of credentials.length === 0 ? [undefined] : credentials) {
      const auth = credential && authConfig(credential);
      const spec = { image, annotations, runtimeHandler };
      try {
        const asked = PullImageRequest.fromPartial({ image: spec, auth, sandboxConfig });
        const { imageRef } = await this.#deps.service.pullImage(asked, { signal });
        return { ref: imageRef, credential };
      } catch (error) {
        if (signal.aborted || credentials.length < 2) throw error;
        errors.push(error);
      }
    }
    throw new TubeletError(kindOf(errors.at(-1)), joinedMessages(errors), { cause: errors.at(-1) });
  }
}

function authConfig({ auth }: Credential): AuthConfig {
  const { username, password } = auth.reveal();
  return AuthConfig.fromPartial({ username, password });
}
