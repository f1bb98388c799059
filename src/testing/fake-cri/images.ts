import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { TubeletError } from '../../base/errors.ts';
import type { AuthConfig, Image } from '../../gen/cri/api.ts';
import type { Failure } from './behaviour.ts';
import { untilAborted } from './faults.ts';
import type { HandlersFor } from './handlers.ts';
import { fullImageName, repositoryOf } from './image-names.ts';

/** An image as tests describe it. */
interface FakeImageSpec {
  /** `sha256:…`; by default derived from name and content. */
  readonly id?: string;
  /** Tells two versions under one name apart. */
  readonly content?: string;
  readonly size?: bigint;
  /** As whom it wants to run: a number or a name. */
  readonly uid?: bigint;
  readonly username?: string;
  readonly pinned?: boolean;
}

interface FakeImage extends Required<Omit<FakeImageSpec, 'content' | 'uid'>> {
  readonly uid: bigint | undefined;
  readonly tags: Set<string>;
  readonly digests: Set<string>;
}

/** How a pull goes. */
interface PullOutcome {
  readonly takesMs?: number;
  readonly hangs?: boolean;
  readonly failure?: Failure;
}

interface Published {
  readonly spec: FakeImageSpec;
  readonly auth: { readonly username: string; readonly password: string } | undefined;
}

/** The image store of the fake, and the registry it pulls from. */
export class FakeImages {
  /** Whether names that nobody published can be pulled all the same. */
  pullsAnything = true;
  readonly #clock: Clock;
  readonly #images = new Map<string, FakeImage>();
  readonly #published = new Map<string, Published>();
  readonly #outcomes = new Map<string, PullOutcome[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Puts an image into the store. */
  add(name: string, spec: FakeImageSpec = {}): FakeImage {
    const full = fullImageName(name);
    const id = spec.id ?? sha256(`${repositoryOf(full)} ${spec.content ?? full}`);
    // A tag belongs to one image; the one that had it keeps its digest.
    for (const image of this.#images.values()) image.tags.delete(full);
    const image: FakeImage = this.#images.get(id) ?? {
      id,
      size: spec.size ?? 1_000_000n,
      uid: spec.uid,
      username: spec.username ?? '',
      pinned: spec.pinned ?? false,
      tags: new Set(),
      digests: new Set([`${repositoryOf(full)}@${sha256(`manifest of ${id}`)}`]),
    };
    if (full.includes('@')) image.digests.add(full);
    else image.tags.add(full);
    this.#images.set(id, image);
    return image;
  }

  /** Puts an image into the registry; publishing a name again changes what it stands for. */
  publish(name: string, spec: FakeImageSpec = {}, auth?: Published['auth']): void {
    this.#published.set(fullImageName(name), { spec, auth });
  }

  /** How the next pulls of a name go; the last one stays. */
  scriptPulls(name: string, ...outcomes: readonly PullOutcome[]): void {
    this.#outcomes.set(fullImageName(name), [...outcomes]);
  }

  find(reference: string): FakeImage | undefined {
    const full = fullImageName(reference);
    for (const image of this.#images.values()) {
      if (image.id === reference || image.tags.has(full) || image.digests.has(full)) return image;
    }
    return undefined;
  }

  all(): FakeImage[] {
    return [...this.#images.values()];
  }

  remove(reference: string): void {
    const image = this.find(reference);
    if (image !== undefined) this.#images.delete(image.id);
  }

  async pull(name: string, auth: AuthConfig | undefined, signal: AbortSignal): Promise<FakeImage> {
    const full = fullImageName(name);
    const outcomes = this.#outcomes.get(full) ?? [];
    const outcome = (outcomes.length > 1 ? outcomes.shift() : outcomes[0]) ?? {};
    if (outcome.takesMs !== undefined) await this.#clock.sleep(outcome.takesMs, signal);
    if (outcome.hangs === true) await untilAborted(signal);
    const prefix = `failed to pull and unpack image "${full}"`;
    if (outcome.failure !== undefined) {
      throw new TubeletError(outcome.failure.kind, `${prefix}: ${outcome.failure.message}`);
    }
    const published = this.#published.get(full);
    if (published === undefined && !this.pullsAnything) {
      throw new TubeletError('notFound', `${prefix}: failed to resolve reference "${full}": ${full}: not found`);
    }
    const wanted = published?.auth;
    if (wanted !== undefined && (auth?.username !== wanted.username || auth.password !== wanted.password)) {
      throw new TubeletError(
        'internal',
        `${prefix}: pull access denied, repository does not exist or may require authorization`,
      );
    }
    return this.add(full, published?.spec ?? {});
  }
}

type ImageVerb = 'listImages' | 'imageStatus' | 'pullImage' | 'removeImage' | 'imageFsInfo';

interface ImageDeps {
  readonly images: FakeImages;
  readonly state: { stamp(): bigint };
  readonly imageFilesystem: string;
}

export function imageHandlers(deps: ImageDeps): HandlersFor<ImageVerb> {
  const { images } = deps;
  return {
    // All of them, whatever the filter says: containerd does the same.
    listImages: () => ({ images: images.all().map(imageView) }),
    imageStatus({ image }) {
      const found = images.find(image?.image ?? '');
      return { image: found === undefined ? undefined : imageView(found), info: {} };
    },
    async pullImage({ image, auth }, signal) {
      return { imageRef: (await images.pull(image?.image ?? '', auth, signal)).id };
    },
    removeImage({ image }) {
      images.remove(image?.image ?? '');
      return {};
    },
    imageFsInfo() {
      const all = images.all();
      const usage = {
        timestamp: deps.state.stamp(),
        fsId: { mountpoint: deps.imageFilesystem },
        usedBytes: { value: all.reduce((sum, image) => sum + image.size, 0n) },
        inodesUsed: { value: BigInt(all.length * 100) },
      };
      return { imageFilesystems: [usage], containerFilesystems: [] };
    },
  };
}

function imageView(image: FakeImage): Image {
  return {
    id: image.id,
    repoTags: [...image.tags],
    repoDigests: [...image.digests],
    size: image.size,
    uid: image.uid === undefined ? undefined : { value: image.uid },
    username: image.username,
    spec: undefined,
    pinned: image.pinned,
  };
}

function sha256(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
