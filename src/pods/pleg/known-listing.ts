import type { PodUid } from '../../base/ids.ts';
import type { ListedPod, Listing } from './diff-listing.ts';

/** A listed sandbox or container, and the pod it belongs to. */
export interface KnownItem {
  readonly uid: PodUid;
  readonly state: string;
}

/** A listing that can be asked by id too. */
export class KnownListing {
  #pods = new Map<PodUid, ListedPod>();
  #items = new Map<string, KnownItem>();

  get pods(): Listing {
    return this.#pods;
  }

  find(id: string): KnownItem | undefined {
    return this.#items.get(id);
  }

  replace(listing: Listing): void {
    this.#pods = new Map(listing);
    this.#items = new Map();
    for (const [uid, pod] of listing) this.#index(uid, pod);
  }

  set(uid: PodUid, pod: ListedPod): void {
    this.delete(uid);
    this.#pods.set(uid, pod);
    this.#index(uid, pod);
  }

  delete(uid: PodUid): void {
    for (const { id } of this.#pods.get(uid)?.items ?? []) this.#items.delete(id);
    this.#pods.delete(uid);
  }

  #index(uid: PodUid, pod: ListedPod): void {
    for (const { id, state } of pod.items) this.#items.set(id, { uid, state });
  }
}
