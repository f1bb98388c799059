import { credentials, Metadata, type ClientUnaryCall, type ServiceError } from '@grpc/grpc-js';
import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';
import { ImageServiceClient, RuntimeServiceClient } from '../gen/cri/api.ts';

interface WaitOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Throws when waiting has become pointless. */
  readonly check?: () => void;
}

const retryMs = 25;
const callTimeoutMs = 5_000;

/** Waits until the runtime serves pods: its services answer, and it knows the imported images. */
export async function waitForCri(socket: string, images: readonly string[], wait: WaitOptions): Promise<void> {
  const until = wait.clock.monotonic() + wait.timeoutMs;
  for (;;) {
    wait.signal?.throwIfAborted();
    wait.check?.();
    try {
      return await withClients(socket, wait.clock, callTimeoutMs, (caller) => probe(caller, images));
    } catch (error) {
      if (wait.clock.monotonic() >= until) {
        throw new TubeletError('timeout', `the container runtime at ${socket} is not ready`, { cause: error });
      }
    }
    await wait.clock.sleep(retryMs, wait.signal);
  }
}

export interface PodChoice {
  readonly graceSeconds: number;
  /** Only pods with these UIDs; all of them without it. */
  readonly uids?: ReadonlySet<string>;
}

/**
 * Stops and removes pods through the runtime, which also removes their networks. Answers how many there were;
 * rejects when the runtime does not answer or cannot do it in time.
 */
export async function removePods(socket: string, choice: PodChoice, wait: WaitOptions): Promise<number> {
  const chosen = ({ labels }: Labelled): boolean =>
    choice.uids === undefined || choice.uids.has(labels['io.kubernetes.pod.uid'] ?? '');
  return withClients(socket, wait.clock, wait.timeoutMs, async ({ runtime, call }) => {
    const { containers } = await call<{ containers: Labelled[] }>((...rest) =>
      runtime.listContainers({ filter: undefined }, ...rest),
    );
    const timeout = BigInt(choice.graceSeconds);
    await Promise.all(
      containers
        .filter(chosen)
        .map(({ id }) => call((...rest) => runtime.stopContainer({ containerId: id, timeout }, ...rest))),
    );
    const { items } = await call<{ items: Labelled[] }>((...rest) =>
      runtime.listPodSandbox({ filter: undefined }, ...rest),
    );
    await Promise.all(
      items.filter(chosen).map(async ({ id }) => {
        await call((...rest) => runtime.stopPodSandbox({ podSandboxId: id }, ...rest));
        await call((...rest) => runtime.removePodSandbox({ podSandboxId: id }, ...rest));
      }),
    );
    return items.filter(chosen).length;
  });
}

async function probe({ runtime, image, call }: Caller, images: readonly string[]): Promise<void> {
  // Unlike the version, a list is refused until the runtime has restored its own state.
  await call((...rest) => runtime.listPodSandbox({ filter: undefined }, ...rest));
  for (const reference of images) {
    const spec = { image: reference, annotations: {}, userSpecifiedImage: '', runtimeHandler: '' };
    const reply = await call<{ image?: unknown }>((...rest) =>
      image.imageStatus({ image: spec, verbose: false }, ...rest),
    );
    if (reply.image === undefined) throw new TubeletError('notFound', `the runtime does not know ${reference} yet`);
  }
}

interface Labelled {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
}

interface Caller {
  readonly runtime: RuntimeServiceClient;
  readonly image: ImageServiceClient;
  /** Makes one call; all calls of this function share one deadline. */
  readonly call: <Reply>(invoke: Invoke<Reply>) => Promise<Reply>;
}

type Invoke<Reply> = (
  metadata: Metadata,
  options: { deadline: number },
  done: (error: ServiceError | null, reply: Reply) => void,
) => ClientUnaryCall;

async function withClients<Result>(
  socket: string,
  clock: Clock,
  timeoutMs: number,
  use: (caller: Caller) => Promise<Result>,
): Promise<Result> {
  const address = `unix:${socket}`;
  const runtime = new RuntimeServiceClient(address, credentials.createInsecure());
  const image = new ImageServiceClient(address, credentials.createInsecure());
  const deadline = clock.now() + timeoutMs;
  try {
    return await use({
      runtime,
      image,
      call: (invoke) =>
        new Promise((resolve, reject) => {
          invoke(new Metadata(), { deadline }, (error, reply) => (error === null ? resolve(reply) : reject(error)));
        }),
    });
  } finally {
    runtime.close();
    image.close();
  }
}
