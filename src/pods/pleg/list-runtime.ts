import { isKind } from '../../base/errors.ts';
import { podUid, type PodUid } from '../../base/ids.ts';
import { Limiter } from '../../base/limiter.ts';
import { ListContainersRequest, ListPodSandboxRequest } from '../../gen/cri/api.ts';
import { podUidLabel } from '../../model/labels.ts';
import type { ListedPod, Listing } from './diff-listing.ts';
import type { ObservableRuntime } from './ports.ts';
import { toListing } from './to-listing.ts';

export interface RuntimeListing {
  readonly listing: Listing;
  /** Absent when the runtime gave its list as a whole; else the pods whose own list is too long as well. */
  readonly byPod?: { readonly refused: readonly PodUid[] };
}

/** What is asked about when the whole list is too long for one message. */
export interface KnownPods {
  /** As last listed. */
  readonly listed: Listing;
  readonly onDisk?: (() => Promise<Iterable<string>>) | undefined;
}

const podsAtOnce = 8;

/**
 * Everything the runtime has, by pod. Labels and annotations come back with every sandbox and container, and all of
 * them in one message: when that is refused as too long, each pod that is known is asked for alone, and one whose own
 * list is too long keeps what was last seen of it.
 */
export async function listRuntime(
  runtime: Pick<ObservableRuntime, 'listPodSandbox' | 'listContainers'>,
  known: KnownPods,
  signal: AbortSignal,
): Promise<RuntimeListing> {
  try {
    return { listing: await listWith(runtime, {}, signal) };
  } catch (error) {
    if (!isKind(error, 'exhausted')) throw error;
    const uids = new Set([...known.listed.keys(), ...[...((await known.onDisk?.()) ?? [])].map(podUid)]);
    // With nobody to ask for, the runtime would look empty.
    if (uids.size === 0) throw error;
    return listByPod(runtime, uids, known.listed, signal);
  }
}

async function listByPod(
  runtime: Pick<ObservableRuntime, 'listPodSandbox' | 'listContainers'>,
  uids: ReadonlySet<PodUid>,
  before: Listing,
  signal: AbortSignal,
): Promise<RuntimeListing> {
  const places = new Limiter(podsAtOnce);
  const listing = new Map<PodUid, ListedPod>();
  const refused: PodUid[] = [];
  const ask = async (uid: PodUid): Promise<void> => {
    try {
      const own = (await listWith(runtime, { [podUidLabel]: uid }, signal)).get(uid);
      if (own !== undefined) listing.set(uid, own);
    } catch (error) {
      if (!isKind(error, 'exhausted')) throw error;
      refused.push(uid);
      const last = before.get(uid);
      if (last !== undefined) listing.set(uid, last);
    }
  };
  await Promise.all([...uids].map((uid) => places.run(() => ask(uid), signal)));
  return { listing, byPod: { refused } };
}

async function listWith(
  runtime: Pick<ObservableRuntime, 'listPodSandbox' | 'listContainers'>,
  labelSelector: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Listing> {
  const filter = Object.keys(labelSelector).length === 0 ? {} : { filter: { labelSelector } };
  const [sandboxes, containers] = await Promise.all([
    runtime.listPodSandbox(ListPodSandboxRequest.fromPartial(filter), { signal }),
    runtime.listContainers(ListContainersRequest.fromPartial(filter), { signal }),
  ]);
  return toListing(sandboxes.items, containers.containers);
}
