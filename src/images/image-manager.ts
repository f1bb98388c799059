import { Backoff } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { wordsOf } from '../base/errors.ts';
import { Limiter } from '../base/limiter.ts';
import { Duration } from '../base/duration.ts';
import { ImageStatusRequest, PullImageRequest, type Image, type ImageSpec } from '../gen/cri/api.ts';
import type { Container } from '../gen/kubernetes/types.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import { imageEvents } from '../model/event-reasons.ts';
import { startReasons } from '../model/reasons.ts';
import { computePull } from './compute-pull.ts';
import { completeImageName } from './image-name.ts';
import type { ImageEvents, ImageService } from './ports.ts';

export interface ImageManagerDeps {
  readonly clock: Clock;
  readonly service: ImageService;
  readonly events: ImageEvents;
  /** How many pulls may run at once. */
  readonly parallelPulls: number;
}

/** An image that is on the node. */
export interface PresentImage {
  readonly ref: string;
  readonly user: { readonly uid?: number; readonly name?: string };
}

export interface ImageRefusal {
  readonly reason: string;
  readonly message: string;
  readonly retryMs?: number;
}

export type EnsuredImage = { readonly ok: PresentImage } | { readonly refusal: ImageRefusal };

/** Brings images to the node, as a container's pull policy says. */
export class ImageManager {
  readonly #deps: ImageManagerDeps;
  readonly #pulls: Limiter;
  readonly #backoff: Backoff;
  /** Why the last pull under a back-off key failed, for the words of the wait. */
  readonly #lastFailure = new Map<string, string>();

  constructor(deps: ImageManagerDeps) {
    this.#deps = deps;
    this.#pulls = new Limiter(deps.parallelPulls);
    this.#backoff = new Backoff({ clock: deps.clock });
  }

  async ensure(pod: DesiredPod, container: Container, fieldPath: string, signal: AbortSignal): Promise<EnsuredImage> {
    const written = container.image ?? '';
    const record = (type: 'Normal' | 'Warning', reason: string, message: string): void =>
      this.#deps.events.record(pod, { type, reason, message, fieldPath });
    const completed = completeImageName(written);
    if ('invalid' in completed) {
      const message = `Failed to apply default image tag "${written}": ${completed.invalid}`;
      record('Warning', imageEvents.inspectFailed, message);
      return { refusal: { reason: startReasons.invalidImageName, message } };
    }
    const spec = { image: completed.name, annotations: { ...pod.metadata.annotations } };
    const { imagePullPolicy } = container;
    let present: PresentImage | undefined;
    try {
      // Whoever always pulls need not know what is there.
      present = imagePullPolicy === 'Always' ? undefined : await this.#find(spec, signal);
    } catch (error) {
      signal.throwIfAborted();
      const message = `Failed to inspect image "${written}": ${wordsOf(error)}`;
      record('Warning', imageEvents.inspectFailed, message);
      return { refusal: { reason: startReasons.imageInspectError, message } };
    }
    const decision = computePull(imagePullPolicy, present !== undefined);
    if (decision === 'use' && present !== undefined) {
      record('Normal', imageEvents.pulled, `Container image "${written}" already present on machine`);
      return { ok: present };
    }
    if (decision === 'refuse') {
      const message = `Container image "${written}" is not present with pull policy of Never`;
      record('Warning', imageEvents.errImageNeverPull, message);
      return { refusal: { reason: startReasons.errImageNeverPull, message } };
    }
    return this.#pull(pod, spec, written, record, signal);
  }

  async #pull(
    pod: DesiredPod,
    spec: Pick<ImageSpec, 'image' | 'annotations'>,
    written: string,
    record: (type: 'Normal' | 'Warning', reason: string, message: string) => void,
    signal: AbortSignal,
  ): Promise<EnsuredImage> {
    const key = `${pod.uid}_${spec.image}`;
    const waitMs = this.#backoff.remainingSinceUpdateMs(key);
    if (waitMs > 0) {
      const message = `Back-off pulling image "${written}"`;
      record('Normal', imageEvents.backOff, message);
      const last = this.#lastFailure.get(key);
      const full = last === undefined ? message : `${message}: ErrImagePull: ${last}`;
      return { refusal: { reason: startReasons.imagePullBackOff, message: full, retryMs: waitMs } };
    }
    record('Normal', imageEvents.pulling, `Pulling image "${written}"`);
    const { clock } = this.#deps;
    const asked = clock.monotonic();
    try {
      const { imageRef, tookMs } = await this.#pulls.run(async () => {
        const began = clock.monotonic();
        const response = await this.#deps.service.pullImage(PullImageRequest.fromPartial({ image: spec }), { signal });
        return { imageRef: response.imageRef, tookMs: clock.monotonic() - began };
      }, signal);
      const image = await this.#status(spec, signal);
      const took = Duration.ofMillis(Math.round(tookMs)).toString();
      const waited = Duration.ofMillis(Math.round(clock.monotonic() - asked)).toString();
      const text = `Successfully pulled image "${written}" in ${took} (${waited} including waiting). Image size: ${image?.size ?? 0n} bytes.`;
      record('Normal', imageEvents.pulled, text);
      this.#backoff.reset(key);
      this.#lastFailure.delete(key);
      return { ok: { ref: imageRef, user: image === undefined ? {} : userOf(image) } };
    } catch (error) {
      if (signal.aborted) throw error;
      const message = wordsOf(error);
      record('Warning', imageEvents.failed, `Failed to pull image "${written}": ${message}`);
      this.#backoff.next(key, clock.now());
      this.#lastFailure.set(key, message);
      return {
        refusal: { reason: startReasons.errImagePull, message, retryMs: this.#backoff.remainingSinceUpdateMs(key) },
      };
    }
  }

  async #find(spec: Pick<ImageSpec, 'image' | 'annotations'>, signal: AbortSignal): Promise<PresentImage | undefined> {
    const image = await this.#status(spec, signal);
    return image && { ref: image.id, user: userOf(image) };
  }

  async #status(spec: Pick<ImageSpec, 'image' | 'annotations'>, signal: AbortSignal): Promise<Image | undefined> {
    const { image } = await this.#deps.service.imageStatus(ImageStatusRequest.fromPartial({ image: spec }), { signal });
    return image;
  }

  /** Forgets the pulls of a pod that is gone. */
  forget(uid: string): void {
    for (const key of this.#lastFailure.keys()) {
      if (!key.startsWith(`${uid}_`)) continue;
      this.#lastFailure.delete(key);
      this.#backoff.reset(key);
    }
  }
}

function userOf(image: Image): PresentImage['user'] {
  if (image.uid !== undefined) return { uid: Number(image.uid.value) };
  return image.username === '' ? {} : { name: image.username };
}
