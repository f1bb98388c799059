import type { BackoffLimits } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Heartbeats } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { Tracer } from '../../base/tracing.ts';
import type { Random } from '../../base/random.ts';
import type { Cri } from '../../cri/index.ts';
import type { PodStatus } from '../../gen/kubernetes/types.ts';
import type { Decisions } from '../../model/decisions.ts';
import type { DesiredPod, PodSource } from '../../model/desired-pod.ts';
import type { ImagesWiring } from '../../images/create-images.ts';
import type { HostDns } from '../../model/dns.ts';
import type { PodRemoval } from '../../model/pod-removal.ts';
import type { RuntimeClasses } from '../../model/runtime-class.ts';
import type { NodeFacts, RuntimeSettings } from '../../model/runtime-settings.ts';
import type { ServiceObject } from '../../model/service-environment.ts';
import type { Objects } from '../../objects/index.ts';
import type { AdmissionNode } from '../../pods/admission/index.ts';
import type { GcPolicy } from '../../pods/container-gc/index.ts';
import type { Files } from '../../pods/directories/index.ts';
import type { HintStream } from '../../pods/pleg/index.ts';
import type { Prober } from '../../pods/probes/index.ts';
import type { HookRequests, LastWordsFiles, PodEvents } from '../../pods/runtime/index.ts';
import type { Cgroups } from '../../pods/sync/index.ts';
import type { MountPrograms, VolumeClaimsDeps, VolumeHost } from '../../volumes/index.ts';
import type { StorageAccess } from './csi-volumes.ts';
import type { ImagePolicy } from './images.ts';
import type { LinkFiles, LogFiles, LogSettings, LogWatch } from '../../pods/logs/index.ts';
import type { UserNamespacePolicy } from './user-namespaces.ts';

/** What the pod machine is made of that differs between a real node, a test and a simulation. */
export interface PodMachineDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly heartbeats: Heartbeats;
  readonly log: Log;
  readonly cri: Omit<Cri, 'close' | 'endpoint'>;
  readonly files: Files;
  readonly cgroups: Cgroups;
  readonly events: PodEvents;
  readonly decisions: Decisions;
  readonly settings: RuntimeSettings;
  readonly node: NodeFacts;
  /** The node as admission sees it, now. */
  readonly admissionNode: () => AdmissionNode;
  readonly hostIps: () => readonly string[];
  readonly hostDns: () => Promise<HostDns>;
  readonly runtimeName: () => string;
  /** The ways of running a sandbox that the runtime announces, by name. */
  readonly runtimeHandlers?: () => ReadonlySet<string>;
  /** Whether sandboxes of that handler can have mounts that are read-only with all below them; none can unless told. */
  readonly recursiveReadOnly?: (handler: string) => boolean;
  /** Why pods cannot have a network of their own now; they can unless told. */
  readonly networkError?: () => string | undefined;
  /** Where pods' own users come from; without it no pod can have any. */
  readonly userNamespaces?: UserNamespacePolicy;
  /** The sources that must have spoken before anything is cleaned up. */
  readonly sources: readonly PodSource[];
  readonly resyncMs: number;
  /** Credentials, rates and records of pulls; none of them and one pull at a time unless told. */
  readonly imagePolicy?: ImagePolicy;
  /** How fast containers that crash come back; 10 s doubling to 5 min unless told. */
  readonly restartLimits?: BackoffLimits;
  /** Where containers leave their last words; without it the runtime's own message is all there is. */
  readonly lastWords?: LastWordsFiles;
  /** Sends the requests of httpGet hooks; from this machine unless told. */
  readonly hookRequests?: HookRequests;
  /** Carries out probes; from this machine unless told. */
  readonly prober?: Prober;
  /** The machine as far as volumes need it. */
  readonly volumeHost: VolumeHost;
  readonly mountPrograms: MountPrograms;
  /** What the API server knows of volumes; nothing unless told. */
  readonly volumesCluster?: VolumesCluster | undefined;
  /** Tokens of service accounts for volumes; none can be had unless told. */
  readonly tokens?: VolumeTokens;
  readonly trust?: TrustSource;
  /** How storage drivers are spoken with; none register without. */
  readonly storage?: StorageAccess | undefined;
  /** The volumes in use that somebody else attaches have changed. */
  readonly inUseChanged?: () => void;
  /** The services that pods are told of in their environment; none unless told, unknown while not yet read. */
  readonly services?: () => readonly ServiceObject[] | undefined;
  /** ConfigMaps and Secrets of the API server; those of the manifests folder unless told. */
  readonly objects?: Objects;
  /** How memory of pods ends; shared with what is made beside the pods. */
  readonly podRemoval?: PodRemoval;
  /** RuntimeClasses of the API server; without them a class is a handler of that name. */
  readonly runtimeClasses?: RuntimeClasses;
  /** A pod moved on in its life on this node. */
  readonly onLifeChange?: (uid: PodUid) => void;
  /** Rotation of and links to logs; neither without it. */
  readonly logs?: LogKeeping;
  /** How many dead containers are kept; one of each name unless told. */
  readonly gcPolicy?: GcPolicy;
  /** Streams of hints beside the runtime's own, used where it has none. */
  readonly otherHints?: readonly HintStream[];
  readonly metrics?: Metrics;
  readonly tracer?: Tracer | undefined;
  /** How many mirrors of static pods the API server has; none without one. */
  readonly mirrorPods?: () => number;
  /** The page of its own that probes are measured on. */
  readonly probeMetrics?: Metrics;
  readonly onStatus?: (uid: PodUid, status: PodStatus) => void;
  /** Nothing is left of a pod: its status is forgotten too. */
  readonly onGone?: (uid: PodUid) => void;
}

export interface LogKeeping {
  readonly files: LogFiles & LogWatch & LinkFiles;
  readonly limits: LogSettings;
  readonly linksDir?: string;
}

/** Where pods' ConfigMaps and Secrets come from. */
export interface PodObjects extends Pick<StandaloneObjects, 'configMap' | 'secret'> {
  ready(pod: DesiredPod, signal: AbortSignal): Promise<void>;
  problem(kind: 'ConfigMap' | 'Secret', namespace: string, name: string): string | undefined;
  release(uid: PodUid): void;
}
