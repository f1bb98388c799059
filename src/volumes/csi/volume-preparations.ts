import { grpcErrorText, kindOf, TubeletError, remoteMessageOf } from '../../base/errors.ts';
import type { VolumeCapability } from '../../gen/csi/v1.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { VolumeRequest } from '../ports.ts';
import { VolumeStepError, type VolumeStep } from '../volume-failures.ts';
import type { PublishContext } from './attach-wait.ts';
import type { CsiFileVolumesDeps } from './csi-volumes-deps.ts';
import type { DriverCapability } from './driver-capabilities.ts';
import type { DriverClient } from './driver-client.ts';
import { fetchSecrets } from './driver-secrets.ts';
import {
  driverTokenSpecs,
  fsGroupChoice,
  isAttachRequired,
  lifecycleProblem,
  podInfo,
  seLinuxContext,
  seLinuxOption,
  tokenContext,
  type DriverObject,
  type FsGroupChoice,
} from './driver-spec.ts';
import { mountCapability } from './volume-capability.ts';
import type { CsiVolumeSpec, PublishFacts } from './volume-spec.ts';

type VolumePreparationsDeps = Pick<CsiFileVolumesDeps, 'cluster' | 'drivers' | 'secrets' | 'tokens' | 'hasSeLinux'>;

/** All that is fetched before anything is set up. */
export interface MountPreparations {
  readonly object: DriverObject;
  readonly client: DriverClient;
  readonly capabilities: ReadonlySet<DriverCapability>;
  readonly context: PublishContext;
  readonly group: FsGroupChoice;
  readonly seLinux: string | undefined;
  readonly stageSecrets: Readonly<Record<string, string>>;
  readonly publish: Pick<PublishFacts, 'secrets' | 'podContext'>;
}

/** Without a cluster there is no CSIDriver object: drivers get the pod's info, as inline volumes need, and none attaches. */
const withoutCluster: DriverObject = {
  spec: { attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: ['Persistent', 'Ephemeral'] },
};

/** Fetches all that a volume needs before anything of it is set up: a failure here leaves nothing to tear down. */
export class VolumePreparations {
  readonly #deps: VolumePreparationsDeps;

  constructor(deps: VolumePreparationsDeps) {
    this.#deps = deps;
  }

  async gather(
    { pod, volume }: VolumeRequest,
    spec: CsiVolumeSpec,
    known: PublishContext | undefined,
    signal: AbortSignal,
  ): Promise<MountPreparations> {
    const { cluster, drivers, hasSeLinux, secrets } = this.#deps;
    const object = cluster === undefined ? withoutCluster : cluster.objects.get(spec.driver);
    const refused = lifecycleProblem(spec.driver, object, spec.lifecycle);
    if (refused !== undefined) {
      throw new VolumeStepError('MountVolume.NewMounter initialization failed', 'unsupported', refused);
    }
    const context = known ?? (await this.#attached(spec, object, signal));
    const { client, capabilities } = await withDriverErrors(spec, async () => {
      const found = drivers.find(spec.driver);
      return { client: found, capabilities: await found.capabilities({ signal }) };
    });
    // Also where it is staged already: the last pod that has it may be about to release it.
    const mayStage = known === undefined && stages(spec, capabilities);
    const fsGroup = pod.spec.securityContext?.fsGroup;
    return {
      object,
      client,
      capabilities,
      context,
      group: fsGroupChoice({ ...spec, fsGroup }, object, capabilities),
      seLinux: hasSeLinux ? seLinuxContext(object, spec.accessModes ?? [], pod, volume.name) : undefined,
      stageSecrets: mayStage
        ? await inStep('MountVolume.MountDevice failed', () =>
            fetchSecrets(secrets, 'NodeStageSecretRef', spec.stageSecret, signal),
          )
        : {},
      publish: {
        secrets: await fetchSecrets(secrets, 'NodePublishSecretRef', spec.publishSecret, signal),
        podContext: { ...podInfo(object, pod, spec.lifecycle), ...(await this.#tokens(object, pod, signal)) },
      },
    };
  }

  async #attached(spec: CsiVolumeSpec, object: DriverObject, signal: AbortSignal): Promise<PublishContext> {
    const { cluster } = this.#deps;
    const isAttached = cluster !== undefined && spec.lifecycle === 'Persistent' && isAttachRequired(object);
    return isAttached ? cluster.attachments.wait(spec, signal) : {};
  }

  async #tokens(object: DriverObject, pod: DesiredPod, signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    const { tokens } = this.#deps;
    const tokenSpecs = [...driverTokenSpecs(object, pod)];
    if (tokenSpecs.length === 0) return {};
    try {
      const got = tokenSpecs.map(async ([audience, spec]) => [audience, await tokens.get(spec, signal)] as const);
      return tokenContext(new Map(await Promise.all(got)));
    } catch (error) {
      signal.throwIfAborted();
      const message = `mounter.SetUpAt failed to get service account token attributes: ${remoteMessageOf(error)}`;
      throw new TubeletError(kindOf(error), `kubernetes.io/csi: ${message}`);
    }
  }
}

export function stages({ lifecycle }: CsiVolumeSpec, capabilities: ReadonlySet<DriverCapability>): boolean {
  return lifecycle === 'Persistent' && capabilities.has('STAGE_UNSTAGE_VOLUME');
}

export function capabilityOf(
  spec: CsiVolumeSpec,
  { capabilities, group, seLinux }: MountPreparations,
): VolumeCapability {
  const { accessModes = [], fsType, mountOptions } = spec;
  return mountCapability(
    {
      accessModes,
      fsType,
      mountOptions: seLinux === undefined ? mountOptions : [...mountOptions, seLinuxOption(seLinux)],
      mountGroup: group.by === 'driver' ? group.gid : undefined,
    },
    capabilities,
  );
}

export function stepped(step: VolumeStep, error: unknown): VolumeStepError {
  const code = error instanceof TubeletError ? error.code : undefined;
  return new VolumeStepError(step, kindOf(error), grpcErrorText(error), { ...(code !== undefined && { code }) });
}

async function inStep<T>(step: VolumeStep, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw stepped(step, error);
  }
}

/** Reports a missing driver as a failure of the first step that needs it, as upstream does. */
async function withDriverErrors<T>({ lifecycle }: CsiVolumeSpec, work: () => Promise<T>): Promise<T> {
  const isInline = lifecycle === 'Ephemeral';
  const step = isInline ? 'MountVolume.SetUp failed' : 'MountVolume.MountDevice failed';
  const who = isInline
    ? 'mounter.SetUpAt failed to get CSI client'
    : 'attacher.MountDevice failed to create newCsiDriverClient';
  try {
    return await work();
  } catch (error) {
    throw new VolumeStepError(step, kindOf(error), `kubernetes.io/csi: ${who}: ${grpcErrorText(error)}`);
  }
}
