import { kindOf, messageOf, TubeletError, remoteMessageOf } from '../../base/errors.ts';
import type { VolumeProjection } from '../../gen/kubernetes/types.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { tokenSpec } from '../../model/token-spec.ts';
import { downwardPayload, type DownwardFacts } from '../contents/downward-payload.ts';
import { findConfigMap, findSecret } from '../contents/find-object.ts';
import { commonUser } from '../contents/ownership.ts';
import { configMapPayload, secretPayload, type Payload, type PayloadFile } from '../contents/payload.ts';
import { allOrNothing } from '../contents/problems.ts';
import { NoTokensError, type TokenSource, type TrustSource } from '../credential-ports.ts';
import type { VolumeObjects, VolumePlugin } from '../ports.ts';
import type { WrittenVolumes } from '../written-volumes.ts';

const kind = { folder: 'kubernetes.io~projected', on: 'memory' } as const;
const usualMode = 0o644;
/** Credentials of a pod that names its user are for that user alone; its fsGroup may read them. */
const privateMode = 0o600;

interface ProjectedDeps {
  readonly written: WrittenVolumes;
  readonly objects: VolumeObjects;
  readonly facts: DownwardFacts;
  readonly tokens: TokenSource;
  readonly trust: TrustSource;
}

/** projected: files of several sources in one folder. */
export function projected(deps: ProjectedDeps): VolumePlugin {
  return {
    folder: kind.folder,
    follows: true,
    handles: ({ projected: source }) => source !== undefined,
    async setUp(request, signal) {
      const { sources = [], defaultMode = usualMode } = request.volume.projected ?? {};
      const collected = await Promise.all(
        sources.map((source) => collect(deps, request.pod, source, defaultMode, signal)),
      );
      const problems = collected.flatMap((result) => ('problem' in result ? [result.problem] : []));
      const files = new Map(collected.flatMap((result) => ('payload' in result ? [...result.payload] : [])));
      // The error has all problems, and nothing is written unless every source is there.
      allOrNothing(files, problems, (message) => new TubeletError('notFound', message));
      return deps.written.write(request, kind, files);
    },
    tearDown: (place) => deps.written.remove(place, kind),
  };
}

type Collected = { readonly payload: Payload } | { readonly problem: string };

async function collect(
  deps: ProjectedDeps,
  pod: DesiredPod,
  source: VolumeProjection,
  defaultMode: number,
  signal: AbortSignal,
): Promise<Collected> {
  try {
    return { payload: await payloadOf(deps, pod, source, defaultMode, signal) };
  } catch (error) {
    signal.throwIfAborted();
    return { problem: messageOf(error) };
  }
}

async function payloadOf(
  { objects, facts, tokens, trust }: ProjectedDeps,
  pod: DesiredPod,
  source: VolumeProjection,
  defaultMode: number,
  signal: AbortSignal,
): Promise<Payload> {
  const { namespace } = pod;
  if (source.configMap !== undefined) {
    const { name = '', items = [], optional = false } = source.configMap;
    return configMapPayload(findConfigMap(objects, { namespace, name, optional }), { items, defaultMode, optional });
  }
  if (source.secret !== undefined) {
    const { name = '', items = [], optional = false } = source.secret;
    return secretPayload(findSecret(objects, { namespace, name, optional }), { items, defaultMode, optional });
  }
  if (source.downwardAPI !== undefined) {
    return downwardPayload(pod, source.downwardAPI.items ?? [], defaultMode, facts);
  }
  if (source.serviceAccountToken !== undefined) {
    const { path } = source.serviceAccountToken;
    const token = await tokens.get(tokenSpec(pod, source.serviceAccountToken), signal).catch((error: unknown) => {
      if (error instanceof NoTokensError) throw error;
      throw new TubeletError(kindOf(error), `failed to fetch token: ${remoteMessageOf(error)}`, { cause: error });
    });
    return new Map([[path, credential(pod, token.value, defaultMode)]]);
  }
  if (source.clusterTrustBundle !== undefined) {
    const anchors = await trust.anchors(source.clusterTrustBundle, pod, signal);
    return new Map([[source.clusterTrustBundle.path, credential(pod, anchors, defaultMode)]]);
  }
  const [named = 'nothing'] = Object.keys(source);
  throw new TubeletError('unsupported', `projection of ${named} is not supported`);
}

function credential(pod: DesiredPod, text: string, defaultMode: number): PayloadFile {
  const content = Buffer.from(text, 'utf8');
  const uid = commonUser(pod.spec);
  const isPrivate = uid !== undefined || pod.spec.securityContext?.fsGroup !== undefined;
  return { content, mode: isPrivate ? privateMode : defaultMode, ...(uid !== undefined && { uid }) };
}
