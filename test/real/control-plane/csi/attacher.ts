import { capabilityFor } from '../../../../src/testing/csi-conformance/index.ts';
import { clock } from '../../../support/real-wait.ts';
import type { ClusterView } from '../cluster-view.ts';
import type { HostpathDriver } from './hostpath-driver.ts';

interface VolumeAttachment {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly spec: {
    readonly attacher: string;
    readonly nodeName: string;
    readonly source: { readonly persistentVolumeName: string };
  };
  readonly status?: { readonly attached?: boolean };
}

const path = '/apis/storage.k8s.io/v1/volumeattachments';
const lookMs = 200;

/** What the driver would want the node to know of an attachment; the hostpath driver wants nothing. */
export const attachmentMetadata = { deviceID: 'disk-7' };

/**
 * In the role of external-attacher: tells the driver of the attachments that kube-controller-manager asks for, and the
 * cluster what came of it.
 */
export class Attacher {
  readonly #view: ClusterView;
  readonly #driver: HostpathDriver;
  readonly #end = new AbortController();
  #work: Promise<void> | undefined;

  constructor(view: ClusterView, driver: HostpathDriver) {
    this.#view = view;
    this.#driver = driver;
  }

  start(): void {
    this.#work = this.#run();
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#work;
  }

  /** Attachments of a volume, whoever asked for them. */
  async attachmentsOf(volumeName: string): Promise<readonly VolumeAttachment[]> {
    const all = (await this.#view.get<{ readonly items: readonly VolumeAttachment[] }>(path))?.items ?? [];
    return all.filter(({ spec }) => spec.source.persistentVolumeName === volumeName);
  }

  async #run(): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      // A driver that is down, or an API server that is busy: looked at again soon.
      await this.#look().catch(() => undefined);
      await clock.sleep(lookMs, signal).catch(() => undefined);
    }
  }

  async #look(): Promise<void> {
    const all = (await this.#view.get<{ readonly items: readonly VolumeAttachment[] }>(path))?.items ?? [];
    for (const attachment of all.filter(({ spec }) => spec.attacher === this.#driver.name)) {
      if (attachment.metadata.deletionTimestamp !== undefined) await this.#detach(attachment);
      else if (attachment.status?.attached !== true) await this.#attach(attachment);
    }
  }

  async #attach({ metadata: { name }, spec }: VolumeAttachment): Promise<void> {
    await this.#patch(name, { metadata: { finalizers: [`external-attacher/${this.#driver.name}`] } });
    const handle = await this.#handleOf(spec.source.persistentVolumeName);
    const said = await this.#driver.controller.publishVolume(handle, this.#driver.nodeId, capabilityFor('mount'));
    const status = { attached: true, attachmentMetadata: { ...attachmentMetadata, ...said } };
    await this.#patch(name, { status }, '--subresource=status');
  }

  async #detach({ metadata: { name }, spec }: VolumeAttachment): Promise<void> {
    const handle = await this.#handleOf(spec.source.persistentVolumeName);
    await this.#driver.controller.unpublishVolume(handle, this.#driver.nodeId);
    await this.#patch(name, { metadata: { finalizers: [] } });
  }

  async #handleOf(volumeName: string): Promise<string> {
    const volume = await this.#view.get<{ readonly spec: { readonly csi: { readonly volumeHandle: string } } }>(
      `/api/v1/persistentvolumes/${volumeName}`,
    );
    if (volume === undefined) throw new Error(`no volume ${volumeName}`);
    return volume.spec.csi.volumeHandle;
  }

  async #patch(name: string, change: object, ...more: readonly string[]): Promise<void> {
    const words = ['volumeattachment', name, '--type=merge', `--patch=${JSON.stringify(change)}`, ...more];
    await this.#view.plane.ask('patch', ...words);
  }
}
