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

/** The pods to ask for one by one when the whole list is too long for one message. */
interface KnownPods {
  /** As last listed. */
  readonly listed: Listing;
  readonly onDisk?: (() => Promise<Iterable<string>>) | undefined;
  /** Called after each answer, of which a list by pod takes many. */
  readonly onStep?: (() => void) | undefined;
}

const podsAtOnce = 8;

/**
 * Everything the runtime has, by pod. Labels and annotations come back with every sandbox and container, and all of
 * them in one message: when that is refused as too long, each pod that is known is asked for alone, and one whose own
 * list is too long keeps what was last seen of it. Where only one of the two lists is too long, the other knows the pods.
 */
export async function listRuntime(
  runtime: Pick<ObservableRuntime, 'listPodSandbox' | 'listContainers'>,
  known: KnownPods,
  signal: AbortSignal,
): Promise<RuntimeListing> {
  const [sandboxes, containers] = await Promise.all([
    unlessTooLong(runtime.listPodSandbox(ListPodSandboxRequest.fromPartial({}), { signal })),
    unlessTooLong(runtime.listContainers(ListContainersRequest.fromPartial({}), { signal })),
  ]);
  const seen = toListing(sandboxes.answer?.items ?? [], containers.answer?.containers ?? []);
  const tooLong = sandboxes.tooLong ?? containers.tooLong;
  if (tooLong === undefined) return { listing: seen };
  const onDisk = [...((await known.onDisk?.()) ?? [])].map(podUid);
  const uids = new Set([...known.listed.keys(), ...seen.keys(), ...onDisk]);
  // With no pod to ask for, the listing would be empty although the runtime is not.
  if (uids.size === 0) throw tooLong;
  return listByPod(runtime, uids, known, signal);
}

async function unlessTooLong<T>(call: Promise<T>): Promise<{ readonly answer?: T; readonly tooLong?: Error }> {
  try {
    return { answer: await call };
  } catch (error) {
    if (!(error instanceof Error) || !isKind(error, 'exhausted')) throw error;
    return { tooLong: error };
  }
}

async function listByPod(
  runtime: Pick<ObservableRuntime, 'listPodSandbox' | 'listContainers'>,
  uids: ReadonlySet<PodUid>,
  { listed: before, onStep }: KnownPods,
  signal: AbortSignal,
): Promise<RuntimeListing> {
  const limiter = new Limiter(podsAtOnce);
  const listing = new Map<PodUid, ListedPod>();
  const refused: PodUid[] = [];
  const ask = async (uid: PodUid): Promise<void> => {
    try {
      const own = (await listOne(runtime, uid, signal)).get(uid);
      if (own !== undefined) listing.set(uid, own);
    } catch (error) {
      if (!isKind(error, 'exhausted')) throw error;
      refused.push(uid);
      const last = before.get(uid);
      if (last !== undefined) listing.set(uid, last);
    }
    onStep?.();
  };
  await Promise.all([...uids].map((uid) => limiter.run(() => ask(uid), signal)));
  return { listing, byPod: { refused } };
}

async function listOne(
  runtime: Pick<ObservableRuntime, 'listPodSandbox' | 'listContainers'>,
  uid: PodUid,
  signal: AbortSignal,
): Promise<Listing> {
  const request = { filter: { labelSelector: { [podUidLabel]: uid } } };
  const [sandboxes, containers] = await Promise.all([
    runtime.listPodSandbox(ListPodSandboxRequest.fromPartial(request), { signal }),
    runtime.listContainers(ListContainersRequest.fromPartial(request), { signal }),
  ]);
  return toListing(sandboxes.items, containers.containers);
}
