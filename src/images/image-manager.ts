import { Backoff } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { cutText } from '../base/cut-text.ts';
import { Duration } from '../base/duration.ts';
import { remoteMessageOf } from '../base/errors.ts';
import type { PodUid } from '../base/ids.ts';
import { ImageStatusRequest, type Image, type PodSandboxConfig } from '../gen/cri/api.ts';
import type { Container } from '../gen/kubernetes/types.ts';
import type { Decision, Decisions } from '../model/decisions.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import { imageEvents, podEvents } from '../model/event-reasons.ts';
import { startReasons } from '../model/reasons.ts';
import { computePull } from './compute-pull.ts';
import type { Credential } from './credentials/credential.ts';
import type { PodCredentials, RegistryCredentials } from './credentials/registry-credentials.ts';
import type { ImageMetrics } from './image-metrics.ts';
import { completeImageName, fullRepository } from './image-name.ts';
import type { ImageEvents, ImageService, PullWaits } from './ports.ts';
import { pullFailure } from './pulls/pull-failure.ts';
import { Puller } from './pulls/puller.ts';
import type { Rate } from '../base/token-bucket.ts';
import type { PresentImage } from '../model/present-image.ts';
import type { Refusable } from '../model/refusal.ts';
import type { PullAccess } from './records/pull-access.ts';

/** A pod may name thousands of secrets. */
const maxNamesBytes = 4_096;

export interface ImageManagerDeps {
  readonly clock: Clock;
  readonly service: ImageService;
  readonly events: ImageEvents;
  readonly decisions: Decisions;
  /** How many pulls may run at once. */
  readonly parallelPulls: number;
  /** How many may begin in a time. */
  readonly pullRate: Rate;
  /** The credentials that registries get. */
  readonly credentials: Pick<RegistryCredentials, 'of'>;
  /** Which pods may use images that are on the node. */
  readonly records: PullAccess;
  readonly metrics: Pick<ImageMetrics, 'pulled'>;
  readonly pulls: PullWaits;
}

/** What a runtime may want to know about the pod an image is for. */
interface PullContext {
  readonly sandboxConfig?: PodSandboxConfig;
  readonly runtimeHandler?: string;
}

/** Bounds a name in a message; registries accept no longer ones. */
const maxNameBytes = 1_024;

/** One image that a container or a volume needs, with all that pulling it takes. */
interface ImageRequest {
  readonly pod: DesiredPod;
  /** As the pod writes it, for messages: users know it by that name. */
  readonly written: string;
  /** With its tag. */
  readonly image: string;
  readonly context: PullContext;
  /** Unset where the image is a volume. */
  readonly containerName: string | undefined;
  readonly record: (type: 'Normal' | 'Warning', reason: string, message: string) => void;
  readonly credentials: () => Promise<readonly Credential[]>;
  readonly signal: AbortSignal;
}

/** Ensures that images are on the node, by the containers' pull policies. */
export class ImageManager {
  readonly #deps: ImageManagerDeps;
  readonly #puller: Puller;
  readonly #backoff: Backoff;
  /** Why the last pull of an image for a pod failed, for messages during the back-off. */
  readonly #lastFailures = new Map<PodUid, Map<string, string>>();

  constructor(deps: ImageManagerDeps) {
    const { clock, service, parallelPulls, pullRate, records } = deps;
    this.#deps = deps;
    this.#puller = new Puller({
      clock,
      service,
      parallel: parallelPulls,
      rate: pullRate,
      journal: records,
    });
    this.#backoff = new Backoff({ clock });
  }

  async ensure(
    pod: DesiredPod,
    container: Container,
    fieldPath: string,
    signal: AbortSignal,
    context: PullContext = {},
  ): Promise<Refusable<PresentImage>> {
    const asked = container.image ?? '';
    const written = cutText(asked, maxNameBytes);
    const record = (type: 'Normal' | 'Warning', reason: string, message: string): void =>
      this.#deps.events.record(pod, { type, reason, message, fieldPath });
    const available = this.#deps.credentials.of(pod);
    this.#reportMissingSecrets(pod, available);
    const completed = completeImageName(asked);
    if ('invalid' in completed) {
      const reason = cutText(completed.invalid, 2 * maxNameBytes);
      const message = `Failed to apply default image tag "${written}": ${reason}`;
      record('Warning', imageEvents.inspectFailed, message);
      return { refusal: { reason: startReasons.invalidImageName, message } };
    }
    const image = completed.name;
    const credentials = once(() => this.#find(pod, available, image, signal));
    const containerName = fieldPath === '' ? undefined : container.name;
    const request: ImageRequest = { pod, written, image, context, containerName, record, credentials, signal };

    const { imagePullPolicy } = container;
    let present: PresentImage | undefined;
    try {
      // With the policy Always it does not matter what is present.
      present = imagePullPolicy === 'Always' ? undefined : await this.#present(request);
    } catch (error) {
      signal.throwIfAborted();
      const message = `Failed to inspect image "${written}": ${remoteMessageOf(error)}`;
      record('Warning', imageEvents.inspectFailed, message);
      return { refusal: { reason: startReasons.imageInspectError, message } };
    }
    // An image that the pod may not use counts as absent, so that the pod does not learn that it is present.
    const usable = present !== undefined && (await this.#mayUse(request, present)) ? present : undefined;
    const decision = computePull(imagePullPolicy, usable !== undefined);
    if (decision === 'use' && usable !== undefined) {
      const checked = this.#deps.records.isChecked ? ' and can be accessed by the pod' : '';
      record('Normal', imageEvents.pulled, `Container image "${written}" already present on machine${checked}`);
      return { ok: usable };
    }
    if (decision === 'refuse') {
      const message = `Container image "${written}" is not present with pull policy of Never`;
      record('Warning', imageEvents.errImageNeverPull, message);
      return { refusal: { reason: startReasons.errImageNeverPull, message } };
    }
    return this.#pull(request);
  }

  #mayUse({ image, credentials }: ImageRequest, { ref }: PresentImage): Promise<boolean> {
    return this.#deps.records.mayUse(image, ref, credentials);
  }

  async #pull(request: ImageRequest): Promise<Refusable<PresentImage>> {
    const { pod, written, image, context, record, signal } = request;
    const key = keyOf(pod.uid, image);
    const waitMs = this.#backoff.remainingSinceUpdateMs(key);
    if (waitMs > 0) {
      const message = `Back-off pulling image "${written}"`;
      record('Normal', imageEvents.backOff, message);
      const last = this.#lastFailures.get(pod.uid)?.get(image);
      const full = last === undefined ? message : `${message}: ${last}`;
      return { refusal: { reason: startReasons.imagePullBackOff, message: full, retryMs: waitMs } };
    }
    record('Normal', imageEvents.pulling, `Pulling image "${written}"`);
    this.#decided(request, { kind: 'pull', reason: imageEvents.pulling, message: `Pulling image "${written}"` });
    const { clock, metrics, pulls } = this.#deps;
    const asked = clock.monotonic();
    pulls.began(pod.uid);
    try {
      const credentials = await request.credentials();
      const { annotations = {} } = pod.metadata;
      const { runtimeHandler = '', sandboxConfig } = context;
      const pullRequest = { image, annotations, runtimeHandler, sandboxConfig, credentials };
      const pulled = await this.#puller.pull(pullRequest, signal);
      const waitedMs = clock.monotonic() - asked;
      const size = pulled.image?.size ?? 0n;
      // A pod that joined a pull under way waited for a part of it.
      const took = Math.min(pulled.tookMs, waitedMs);
      const times = `in ${duration(took)} (${duration(waitedMs)} including waiting)`;
      const text = `Successfully pulled image "${written}" ${times}. Image size: ${size} bytes.`;
      record('Normal', imageEvents.pulled, text);
      const inputs = { tookMs: Math.round(took), waitedMs: Math.round(waitedMs), sizeBytes: size };
      this.#decided(request, {
        kind: 'pull',
        reason: imageEvents.pulled,
        message: `Pulled image "${written}"`,
        inputs,
      });
      metrics.pulled(size, waitedMs);
      pulls.ended(pod.uid);
      this.#dropFailure(pod.uid, image);
      return { ok: { ref: pulled.ref, user: userOf(pulled.image) } };
    } catch (error) {
      if (signal.aborted) throw error;
      const remoteMessage = remoteMessageOf(error);
      record('Warning', imageEvents.failed, `Failed to pull image "${written}": ${remoteMessage}`);
      const { reason, message } = pullFailure(written, remoteMessage);
      this.#backoff.next(key, clock.now());
      const failures = this.#lastFailures.get(pod.uid) ?? new Map<string, string>();
      this.#lastFailures.set(pod.uid, failures.set(image, `${reason}: ${message}`));
      const retryMs = this.#backoff.remainingSinceUpdateMs(key);
      this.#decided(request, { kind: 'backOff', reason, message, inputs: { image }, nextTryInMs: retryMs });
      return { refusal: { reason, message, retryMs } };
    }
  }

  #decided({ pod, containerName }: ImageRequest, decision: Omit<Decision, 'by' | 'containerName'>): void {
    const of = containerName === undefined ? {} : { containerName };
    this.#deps.decisions.pod(pod, { ...decision, ...of, by: 'images' });
  }

  /** About the pod and not about one of its containers, whether or not the image is there already. */
  #reportMissingSecrets(pod: DesiredPod, { missing }: PodCredentials): void {
    if (missing.length === 0) return;
    const names = cutText(missing.join(', '), maxNamesBytes);
    const message = `Unable to retrieve some image pull secrets (${names}); attempting to pull the image may not succeed.`;
    this.#deps.events.record(pod, { type: 'Warning', reason: podEvents.failedToRetrieveImagePullSecret, message });
  }

  async #find(
    pod: DesiredPod,
    available: PodCredentials,
    image: string,
    signal: AbortSignal,
  ): Promise<readonly Credential[]> {
    const { credentials, problems } = await available.find(fullRepository(image), signal);
    if (problems.length > 0) {
      const message = `Unable to use some image pull secrets (${problems.join('; ')}); attempting to pull the image may not succeed.`;
      this.#deps.events.record(pod, { type: 'Warning', reason: podEvents.failedToRetrieveImagePullSecret, message });
    }
    return credentials;
  }

  async #present({ pod, image, context, signal }: ImageRequest): Promise<PresentImage | undefined> {
    const { annotations = {} } = pod.metadata;
    const spec = { image, annotations, runtimeHandler: context.runtimeHandler ?? '' };
    const found = await this.#deps.service.imageStatus(ImageStatusRequest.fromPartial({ image: spec }), { signal });
    return found.image && { ref: found.image.id, user: userOf(found.image) };
  }

  /** Forgets the pulls of a removed pod. */
  forget(uid: PodUid): void {
    for (const image of this.#lastFailures.get(uid)?.keys() ?? []) this.#dropFailure(uid, image);
  }

  /** How many pods have pulls that failed. */
  size(): number {
    return this.#lastFailures.size;
  }

  #dropFailure(uid: PodUid, image: string): void {
    this.#backoff.reset(keyOf(uid, image));
    const failures = this.#lastFailures.get(uid);
    failures?.delete(image);
    if (failures?.size === 0) this.#lastFailures.delete(uid);
  }
}

const keyOf = (uid: PodUid, image: string): string => `${uid}_${image}`;

function userOf(image: Image | undefined): PresentImage['user'] {
  if (image?.uid !== undefined) return { uid: Number(image.uid.value) };
  return image === undefined || image.username === '' ? {} : { name: image.username };
}

function duration(milliseconds: number): string {
  return Duration.ofMillis(Math.round(milliseconds)).toString();
}

/** Calls `ask` at most once. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => (asked ??= ask());
}
