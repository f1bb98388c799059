import { describeError } from '../../src/base/errors.ts';
import type { LogEntry } from '../../src/testing/memory-log.ts';

/** A pod that was in play. */
export interface PlayedPod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** Words for an error or a reason other than `err` and `reason`. */
const ownWords = new Set(['why', 'problem', 'error']);
/** Other spellings of the fields that name a pod and what is in it. */
const ownSpellings = new Set(['podUid', 'podName', 'podNamespace', 'uid', 'containerId', 'podSandboxId', 'fullName']);

/** Messages that speak of one pod, or of a part of one. */
const speaksOfPod = /\b(pod|container|sandbox|probe|hook|volume)\b/i;
/** Messages with such a word that are about the node, a source, a file or a storage driver. */
const speaksOfOthers =
  /^(Container runtime|Container garbage collection|Container log rotation is off|SyncLoop|Pods of a source)|stream of container events|no container events|\bpod CIDR\b|static pod (manifest|path)|Cannot watch container logs|Leaving out a pod of the API server/i;

/** The trace of calls of the runtime, where nothing but ids is known. */
const runtimeTrace = /^Runtime call\b/;
/** Ids of the fake runtime's sandboxes and containers; digests of images are as long. */
const runtimeId = /(?<!sha256:)(?<!\w)[0-9a-f]{64}(?!\w)/;
/** A uid as short as this may be a word of any sentence. */
const shortUid = 3;

/**
 * What is wrong with the fields of log lines: a line about a pod names it as `podFields` does, one about several lists
 * them as `podListFields` does, errors stand under `err` and reasons under `reason`.
 */
export function judgeLog(entries: readonly LogEntry[], pods: readonly PlayedPod[]): readonly string[] {
  const uids = new Set(pods.map(({ uid }) => uid).filter((uid) => uid.length > shortUid));
  const names = new Set(pods.flatMap(({ namespace, name }) => [`${namespace}/${name}`, `${name}_${namespace}`]));
  const problems = entries.flatMap((entry) => {
    const faults = [...fieldFaults(entry)];
    if (!namesPod(entry) && !(entry.severity === 'debug' && runtimeTrace.test(entry.message))) {
      const mention = mentionIn(textOf(entry), uids, names);
      if (mention !== undefined) faults.push(`it mentions ${mention} and does not name the pod`);
      else if (speaksOfPod.test(entry.message) && !speaksOfOthers.test(entry.message))
        faults.push('it speaks of a pod and does not name it');
    }
    return faults.map((fault) => `${entry.severity} "${entry.message}": ${fault}: ${textOf(entry)}`);
  });
  return [...new Set(problems)];
}

function fieldFaults({ fields }: LogEntry): readonly string[] {
  const faults = Object.entries(fields).flatMap(([key, value]) => {
    if (ownWords.has(key)) return [`an error stands under err and a reason under reason, not under ${key}`];
    if (ownSpellings.has(key)) return [`${key} is not how a pod, or what is in it, is named`];
    return value instanceof Error && key !== 'err' ? [`the error under ${key} belongs under err`] : [];
  });
  const { pod, podUID, pods } = fields;
  if (pod !== undefined && !isReference(pod)) faults.push('pod is not namespace and name');
  if (podUID !== undefined && (typeof podUID !== 'string' || podUID === '')) faults.push('podUID is not a uid');
  if (pods !== undefined && !(Array.isArray(pods) && pods.every((one) => /^[^/]+\/[^/]+$/.test(String(one)))))
    faults.push('pods is not a list of namespace/name');
  return faults;
}

/** A request to the API server has a uid only where it is sent. */
function namesPod({ fields: { pod, podUID, pods, request } }: LogEntry): boolean {
  return podUID !== undefined || pods !== undefined || (pod !== undefined && request !== undefined);
}

function isReference(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { namespace, name, ...more } = value as Record<string, unknown>;
  return typeof namespace === 'string' && typeof name === 'string' && name !== '' && Object.keys(more).length === 0;
}

/** The first of what the text says by which somebody would look for the pod. */
function mentionIn(text: string, uids: ReadonlySet<string>, names: ReadonlySet<string>): string | undefined {
  const [id] = runtimeId.exec(text) ?? [];
  if (id !== undefined) return id;
  for (const [chunk] of text.matchAll(/[\w.-]+(?:\/[\w.-]+)*/g)) {
    const parts = chunk.split('/');
    for (const [index, part] of parts.entries()) {
      if (names.has(part)) return part;
      if (index > 0 && names.has(`${parts[index - 1]}/${part}`)) return `${parts[index - 1]}/${part}`;
      // Names of log folders end with the uid, those of cgroups have a word before it.
      const uid = [part, part.replace(/^pod/, ''), ...part.split('_')].find((word) => uids.has(word));
      if (uid !== undefined) return uid;
    }
  }
  return undefined;
}

function textOf({ message, fields, error }: LogEntry): string {
  const values = JSON.stringify(fields, (_key, value: unknown) =>
    typeof value === 'bigint' || value instanceof Error ? String(value) : value,
  );
  return `${message} ${values}${error === undefined ? '' : ` ${describeError(error)}`}`;
}
