import { join } from 'node:path';
import type { Component } from '../../base/component.ts';
import { isKind, messageOf, TubeletError } from '../../base/errors.ts';
import { podUid, type PodUid } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import { SingleFlight } from '../../base/single-flight.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { UserNamespaceBlock } from '../../model/namespaces.ts';
import { podFields, podUidFields, type LoggedPod } from '../../model/pod-log.ts';
import type { PodPaths } from '../../model/pod-paths.ts';
import { IdBlocks, type IdSpace } from './id-blocks.ts';
import type { RecordFiles, RuntimeFeatures } from './ports.ts';
import type { IdSpaceResult } from './read-id-space.ts';
import { formatRecord, parseRecord, recordName } from './userns-record.ts';

export interface UserNamespacesDeps {
  readonly log: Log;
  readonly runtime: RuntimeFeatures;
  readonly files: RecordFiles;
  readonly paths: Pick<PodPaths, 'pods' | 'pod'>;
  /** The gate UserNamespacesSupport. */
  readonly enabled: boolean;
  /** The ids for pods, read when the first pod needs some. */
  readonly readSpace: () => Promise<IdSpaceResult>;
}

/**
 * Allocates host ids to pods with a user namespace of their own. The allocation is recorded in the pod's directory before
 * the runtime gets it, and removed with the directory: an agent that starts again finds every block that may be in use
 * before it allocates another one.
 */
export class UserNamespaces implements Component {
  readonly name = 'user-namespaces';
  readonly #deps: UserNamespacesDeps;
  readonly #blocks = new IdBlocks();
  /** A pod whose earlier call was cancelled and that asks again gets the block that is being recorded. */
  readonly #flights = new SingleFlight<PodUid, UserNamespaceBlock>();
  #space: IdSpace | undefined;

  constructor(deps: UserNamespacesDeps) {
    this.#deps = deps;
  }

  /** Reads the recorded blocks. A record that cannot be used affects its own pod only. */
  async start(signal: AbortSignal): Promise<void> {
    const { files, paths, log } = this.#deps;
    for (const uid of (await files.list(paths.pods)).toSorted().map(podUid)) {
      signal.throwIfAborted();
      try {
        await this.#recorded(uid);
      } catch (error) {
        log.error(error, 'Cannot restore the user namespace of a pod', podUidFields(uid));
      }
    }
  }

  async stop(): Promise<void> {}

  /** The pod's own ids; undefined for a pod that shares the users of the node. Failures become events of the pod. */
  async blockFor(
    pod: Pick<DesiredPod, 'uid' | 'spec'> & LoggedPod,
    handler: string,
    signal: AbortSignal,
  ): Promise<UserNamespaceBlock | undefined> {
    if (pod.spec.hostUsers !== false) return undefined;
    if (!this.#deps.enabled) {
      const message = `the feature gate "UserNamespacesSupport" is disabled: can't set spec.HostUsers`;
      throw new TubeletError('unsupported', message);
    }
    await this.#requireSupport(handler, signal);
    return this.#flights.run(pod.uid, () => this.#ensure(pod));
  }

  /** How many pods hold ids. */
  size(): number {
    return this.#blocks.size();
  }

  /** The pod's directory was removed, and with it the record. */
  release(uid: PodUid): void {
    this.#blocks.release(uid);
  }

  /** Checked each time: a runtime may have been replaced by one that would ignore the mappings and run the pod as root. */
  async #requireSupport(handler: string, signal: AbortSignal): Promise<void> {
    const { runtimeHandlers } = await this.#deps.runtime.status({ verbose: false }, { signal });
    if (runtimeHandlers.some(({ name, features }) => name === handler && features?.userNamespaces === true)) return;
    const handlerName = handler === '' ? 'runtime' : `RuntimeClass handler "${handler}"`;
    throw new TubeletError(
      'unsupported',
      `can't set \`spec.hostUsers: false\`, ${handlerName} does not support user namespaces`,
    );
  }

  async #ensure(pod: Pick<DesiredPod, 'uid'> & LoggedPod): Promise<UserNamespaceBlock> {
    const { uid } = pod;
    const recorded = await this.#recorded(uid);
    if (recorded !== undefined) return recorded;
    const space = await this.#idSpace();
    const block = this.#blocks.allocate(uid, space);
    if (block === undefined) {
      const ids = `${space.first} to ${space.end - 1}`;
      throw new TubeletError('exhausted', `no user namespace is left: pods have all blocks of the host ids ${ids}`);
    }
    // A write that fails may have reached the disk all the same, so the pod keeps the block and records it again.
    await this.#deps.files.replace(this.#path(uid), formatRecord(block));
    this.#deps.log.debug(2, 'User namespace allocated', { ...podFields(pod), ...block });
    return block;
  }

  /** The block that the pod's directory records. */
  async #recorded(uid: PodUid): Promise<UserNamespaceBlock | undefined> {
    const text = await this.#read(uid);
    if (text === undefined) return undefined;
    const reading = parseRecord(text);
    if ('problem' in reading) throw this.#unusable(uid, reading.problem);
    const conflict = this.#blocks.claim(uid, reading.block);
    if (conflict !== undefined) throw this.#unusable(uid, conflict);
    return reading.block;
  }

  async #read(uid: PodUid): Promise<string | undefined> {
    try {
      return await this.#deps.files.readText(this.#path(uid));
    } catch (error) {
      if (isKind(error, 'notFound')) return undefined;
      throw this.#unusable(uid, messageOf(error), error);
    }
  }

  /** A new block would not be that of containers that may be running, so the user has to delete the pod. */
  #unusable(uid: PodUid, why: string, cause?: unknown): TubeletError {
    const message = `user namespace: ${this.#path(uid)} cannot be used: ${why}; delete the pod to have it made anew`;
    return new TubeletError('invalid', message, { cause });
  }

  async #idSpace(): Promise<IdSpace> {
    if (this.#space !== undefined) return this.#space;
    const reading = await this.#deps.readSpace();
    // Not remembered, so that a corrected configuration takes effect without a restart of the agent.
    if ('problem' in reading) throw new TubeletError('invalid', `user namespace: ${reading.problem}`);
    this.#deps.log.info('User namespaces get their ids', { ...reading.space, origin: reading.origin });
    this.#space = reading.space;
    return reading.space;
  }

  #path(uid: PodUid): string {
    return join(this.#deps.paths.pod(uid), recordName);
  }
}
