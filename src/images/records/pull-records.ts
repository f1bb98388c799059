import { createHash } from 'node:crypto';
import { join } from 'node:path/posix';
import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { isKind, messageOf, TubeletError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { Limiter } from '../../base/limiter.ts';
import { ImageStatusRequest } from '../../gen/cri/api.ts';
import { apiTime } from '../../model/api-time.ts';
import type { Credential } from '../credentials/credential.ts';
import { completeImageName, fullRepository } from '../image-name.ts';
import type { ImageService, RecordFiles } from '../ports.ts';
import type { PullAccess } from './pull-access.ts';
import {
  decodeIntent,
  decodePulled,
  encodeIntent,
  encodePulled,
  shownBy,
  withCredentials,
  type PullCredentials,
  type PulledRecord,
} from './pull-record.ts';
import { computeAccess, isOpen, type KnownImage, type VerificationRule } from './verification.ts';

/** The image service did not answer. */
const noAnswer = Symbol('no answer');

interface PullRecordsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly files: RecordFiles;
  readonly service: Pick<ImageService, 'imageStatus'>;
  readonly rootDir: string;
  readonly rule: VerificationRule;
}

const folderMode = 0o700;
const fileMode = 0o600;
const recordName = /^sha256-[0-9a-f]{64}$/;

/**
 * Records on disk which images were pulled with which credentials, so that a pod cannot use a private image only because
 * another pod had it pulled. The life of an image, each arrow a file written or removed:
 *
 *   unknown ──began──> intended ──pulled──> recorded (and no longer intended)
 *                          └──failed──> unknown
 *
 * A crash in between leaves the intention, and `start` turns it into a record without credentials: known to be pulled by
 * the agent, and usable only with a credential. In every case of doubt the registry decides.
 */
export class PullRecords implements Component, PullAccess {
  readonly name = 'pull-records';
  readonly isChecked = true;
  readonly #deps: PullRecordsDeps;
  readonly #pulling: string;
  readonly #pulled: string;
  /** One operation at a time: no read may see one of an image's two files without the other. */
  readonly #lock = new Limiter(1);
  /** How many pulls of an image are under way; with several credentials there can be several. */
  readonly #underWay = new Map<string, number>();

  constructor(deps: PullRecordsDeps) {
    this.#deps = deps;
    this.#pulling = join(deps.rootDir, 'image_manager', 'pulling');
    this.#pulled = join(deps.rootDir, 'image_manager', 'pulled');
  }

  async start(signal: AbortSignal): Promise<void> {
    await this.#deps.files.makeFolder(this.#pulling, folderMode);
    await this.#deps.files.makeFolder(this.#pulled, folderMode);
    await this.#recover(signal);
  }

  async stop(): Promise<void> {}

  /** Whether a pod may use an image that is on the node; calls `credentials` only if needed. */
  async mayUse(image: string, ref: string, credentials: () => Promise<readonly Credential[]>): Promise<boolean> {
    let known: KnownImage;
    try {
      known = await this.#lock.run(() => this.#known(image, ref));
    } catch (error) {
      this.#deps.log.error(error, 'Pull record cannot be read; the image will be pulled again', { image });
      return false;
    }
    if (isOpen(this.#deps.rule, known)) return true;
    const access = computeAccess(known, await credentials());
    if (access.kind !== 'shown') return false;
    const { remember } = access;
    if (remember !== undefined) await this.#lock.run(() => this.#tryRecord(image, ref, remember));
    return true;
  }

  began(image: string): Promise<void> {
    return this.#lock.run(async () => {
      try {
        await this.#deps.files.writeAtomic(join(this.#pulling, fileName(image)), encodeIntent(image), fileMode);
      } catch (error) {
        const message = `failed to record image pull intent: ${messageOf(error)}`;
        throw new TubeletError('internal', message, { cause: error });
      }
      this.#underWay.set(image, (this.#underWay.get(image) ?? 0) + 1);
    });
  }

  pulled(image: string, ref: string, credential: Credential | undefined): Promise<void> {
    return this.#lock.run(async () => {
      const recorded = await this.#tryRecord(image, ref, shownBy(credential));
      // Without a record the intention stays: it still marks the image as pulled by the agent, not preloaded.
      await this.#ended(image, recorded);
    });
  }

  failed(image: string): Promise<void> {
    return this.#lock.run(() => this.#ended(image, true));
  }

  /** Removes records of removed images. Keeps records younger than the listing of images: it may lack their images. */
  prune(presentRefs: ReadonlySet<string>, listedAtMs: number): Promise<void> {
    return this.#lock.run(async () => {
      for (const path of await this.#recordPaths(this.#pulled)) {
        const record = await this.#understood(path, decodePulled);
        if (record === undefined || presentRefs.has(record.imageRef)) continue;
        if (Date.parse(record.lastUpdatedTime) < listedAtMs) await this.#deps.files.removeTree(path);
      }
    });
  }

  async #known(image: string, ref: string): Promise<KnownImage> {
    const record = await this.#read(ref);
    const intended =
      this.#underWay.has(image) || (await this.#textOf(join(this.#pulling, fileName(image)))) !== undefined;
    return { repository: fullRepository(image), record, intended };
  }

  async #read(ref: string): Promise<PulledRecord | undefined> {
    const text = await this.#textOf(join(this.#pulled, fileName(ref)));
    const record = text === undefined ? undefined : decodePulled(text);
    return record?.imageRef === ref ? record : undefined;
  }

  async #textOf(path: string): Promise<string | undefined> {
    try {
      return await this.#deps.files.readText(path);
    } catch (error) {
      if (isKind(error, 'notFound')) return undefined;
      throw error;
    }
  }

  async #tryRecord(image: string, ref: string, shown: PullCredentials | undefined): Promise<boolean> {
    try {
      await this.#record(image, ref, shown);
      return true;
    } catch (error) {
      this.#deps.log.error(error, 'Pull record cannot be written', { image, ref });
      return false;
    }
  }

  async #record(image: string, ref: string, shown: PullCredentials | undefined): Promise<void> {
    const lastUpdatedTime = apiTime(this.#deps.clock.now());
    let before: PulledRecord | undefined;
    try {
      before = await this.#read(ref);
    } catch (error) {
      this.#deps.log.warn('Pull record cannot be understood and is written anew', { ref, err: messageOf(error) });
    }
    const base = before ?? { lastUpdatedTime, imageRef: ref, credentialMapping: {} };
    const record = shown === undefined ? base : withCredentials(base, fullRepository(image), shown, lastUpdatedTime);
    if (record === before) return;
    await this.#deps.files.writeAtomic(join(this.#pulled, fileName(ref)), encodePulled(record), fileMode);
  }

  async #ended(image: string, forget: boolean): Promise<void> {
    const left = (this.#underWay.get(image) ?? 1) - 1;
    if (left > 0) {
      this.#underWay.set(image, left);
      return;
    }
    this.#underWay.delete(image);
    if (!forget) return;
    try {
      await this.#deps.files.removeTree(join(this.#pulling, fileName(image)));
    } catch (error) {
      this.#deps.log.error(error, 'Pull intent cannot be removed', { image });
    }
  }

  /** Pulls that an earlier process began and did not finish. */
  async #recover(signal: AbortSignal): Promise<void> {
    for (const path of await this.#recordPaths(this.#pulling)) {
      const image = await this.#understood(path, decodeIntent);
      const completed = completeImageName(image ?? '');
      if (image === undefined || 'invalid' in completed) continue;
      const ref = await this.#presentRef(completed.name, signal);
      // After one call without an answer the others would time out too: the start must not wait for each.
      if (ref === noAnswer) return;
      // The image is missing or unknown: the intention may stay, as it grants no access.
      if (ref === undefined || !(await this.#tryRecord(image, ref, undefined))) continue;
      await this.#deps.files.removeTree(path);
    }
  }

  async #presentRef(image: string, signal: AbortSignal): Promise<string | typeof noAnswer | undefined> {
    try {
      const asked = ImageStatusRequest.fromPartial({ image: { image } });
      return (await this.#deps.service.imageStatus(asked, { signal })).image?.id;
    } catch (error) {
      signal.throwIfAborted();
      this.#deps.log.error(error, 'Image of an unfinished pull cannot be asked for', { image });
      return isKind(error, 'unavailable', 'timeout') ? noAnswer : undefined;
    }
  }

  async #recordPaths(folder: string): Promise<readonly string[]> {
    const names = await this.#deps.files.list(folder);
    return names.filter((name) => recordName.test(name)).map((name) => join(folder, name));
  }

  async #understood<T>(path: string, decode: (text: string) => T): Promise<T | undefined> {
    try {
      return decode(await this.#deps.files.readText(path));
    } catch (error) {
      this.#deps.log.warn('Pull record is passed over', { path, err: messageOf(error) });
      return undefined;
    }
  }
}

/** Names of images and refs can be long and have slashes, so files go by their hash. */
function fileName(subject: string): string {
  return `sha256-${createHash('sha256').update(subject).digest('hex')}`;
}
