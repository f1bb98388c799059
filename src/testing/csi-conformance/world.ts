import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { TubeletError } from '../../base/errors.ts';
import type { NodePublishVolumeRequest, NodeStageVolumeRequest, VolumeCapability } from '../../gen/csi/v1.ts';
import { accessModes } from '../../volumes/csi/driver-capabilities.ts';
import { isUncertain } from '../../volumes/csi/index.ts';
import type { CsiSubject, VolumeKind } from './subject.ts';

let volumes = 0;

/** A volume of one test, with the place where it is staged. */
class ExaminedVolume {
  readonly id: string;
  readonly staging: string;
  readonly capability: VolumeCapability;
  readonly #subject: CsiSubject;
  readonly #folder: string;
  readonly #targets = new Set<string>();

  constructor(subject: CsiSubject, id: string, kind: VolumeKind) {
    this.#subject = subject;
    this.id = id;
    this.#folder = join(subject.folder, `volume-${++volumes}`);
    this.staging = join(this.#folder, 'globalmount');
    mkdirSync(this.staging, { recursive: true });
    this.capability = capabilityFor(kind);
  }

  /** A place where nothing is, in a folder that is there. */
  target(name: string): string {
    const path = join(this.#folder, name, 'mount');
    mkdirSync(join(this.#folder, name), { recursive: true });
    return path;
  }

  stage(more: Partial<NodeStageVolumeRequest> = {}): Promise<void> {
    const { id: volumeId, staging: stagingTargetPath, capability: volumeCapability } = this;
    return this.#subject.driver.stage({ volumeId, stagingTargetPath, volumeCapability, ...more });
  }

  async publish(targetPath: string, more: Partial<NodePublishVolumeRequest> = {}): Promise<void> {
    const { id: volumeId, staging: stagingTargetPath, capability: volumeCapability } = this;
    await this.#subject.driver.publish({ volumeId, stagingTargetPath, targetPath, volumeCapability, ...more });
    this.#targets.add(targetPath);
  }

  async unpublish(targetPath: string): Promise<void> {
    await this.#subject.driver.unpublish({ volumeId: this.id, targetPath });
    this.#targets.delete(targetPath);
  }

  unstage(stagingTargetPath: string = this.staging): Promise<void> {
    return this.#subject.driver.unstage({ volumeId: this.id, stagingTargetPath });
  }

  async cleanUp(): Promise<void> {
    try {
      for (const target of this.#targets) await this.unpublish(target);
      await this.unstage();
    } catch (error) {
      // A test that removed the volume has nothing left to tear down.
      if (!(error instanceof TubeletError && error.code === 'NotFound')) throw error;
    }
    await this.#subject.remove(this.id);
  }
}

export function capabilityFor(kind: VolumeKind): VolumeCapability {
  return {
    accessMode: { mode: accessModes.SINGLE_NODE_WRITER },
    block: kind === 'block' ? {} : undefined,
    mount: kind === 'mount' ? { fsType: '', mountFlags: [], volumeMountGroup: '' } : undefined,
  };
}

/** What one test works with. */
export class World {
  readonly subject: CsiSubject;
  readonly #made: ExaminedVolume[] = [];

  constructor(subject: CsiSubject) {
    this.subject = subject;
  }

  async volume(kind: VolumeKind = 'mount'): Promise<ExaminedVolume> {
    return this.#add(await this.subject.create(kind), kind);
  }

  /** An inline volume, which no provisioner has made. */
  inlineVolume(): ExaminedVolume {
    return this.#add(`csi-${String(volumes + 1).padStart(64, '0')}`, 'mount');
  }

  async cleanUp(): Promise<void> {
    for (const volume of this.#made) await volume.cleanUp();
  }

  #add(id: string, kind: VolumeKind): ExaminedVolume {
    const volume = new ExaminedVolume(this.subject, id, kind);
    this.#made.push(volume);
    return volume;
  }
}

/** For assert.rejects: the driver has refused, and nothing was made. */
export function saidNo(error: unknown): boolean {
  assert.ok(error instanceof TubeletError, `not a TubeletError: ${String(error)}`);
  assert.ok(!isUncertain(error), `${error.code} leaves open what became of it: ${error.message}`);
  return true;
}

/** Registers a test that gets a world and leaves nothing behind. */
export type Examine = (name: string, run: (world: World) => Promise<void>) => void;
