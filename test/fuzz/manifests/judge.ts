import type { Pod } from '../../../src/gen/kubernetes/types.ts';
import type { LogLine, Played } from './played.ts';
import { judgePaths, judgeRequest } from './judge-paths.ts';
import { secretMark } from './valid-pods.ts';

export interface JudgeLimits {
  /** Of the processor for one case: reading it, running it, ending it. */
  readonly cpuMs: number;
}

const maxTextBytes = 10 * 1024;
const maxReportBytes = 2 * 1024;
/** Of one file; a line that there are more is one of them. */
const maxReports = 45;
/** Of one case; a pod of sixty containers has four for each. */
const maxEvents = 600;
/** Of one text of a status: as long as the manifest that it repeats names from. */
const maxStatusTextBytes = 64 * 1024;

/** Words of the engine: whoever wrote the manifest can do nothing with them. */
const engineWords =
  /Cannot (read|set|convert|mix|destructure)|is not (a function|iterable|defined|a constructor)|Maximum call stack|Invalid (string|array|count) |ERR_[A-Z]+_|\bundefined\b|\[object |circular structure|Do not know how to serialize/;
const engineErrors = new Set([
  'TypeError',
  'RangeError',
  'ReferenceError',
  'SyntaxError',
  'EvalError',
  'URIError',
  'AssertionError',
]);

/** Everything that is wrong with what came of a case. */
export function judge(played: Played, limits: JudgeLimits): readonly string[] {
  const { cpuMs, broken, left } = played;
  return [
    ...broken,
    ...(cpuMs > limits.cpuMs ? [`it took ${Math.round(cpuMs)} ms of the processor`] : []),
    ...judgeGood(played),
    ...judgeFiles(played),
    ...judgePods(played),
    ...judgeTexts(played),
    ...judgeLog(played.log),
    ...judgePaths(played),
    ...played.requests.flatMap((request) => judgeRequest(request, played)),
    ...(left.length > 0 ? [`${left.length} things are left: ${cut(left.join(', '))}`] : []),
  ];
}

const cut = (text: string, length = 300): string => (text.length > length ? `${text.slice(0, length)}…` : text);
const bytesOf = (text: string): number => Buffer.byteLength(text);

function judgeGood({ goodBefore, goodAfter }: Played): readonly string[] {
  return goodAfter.flatMap((after) => {
    const before = goodBefore.find(({ name }) => name === after.name);
    const same = (one: readonly string[], other: readonly string[] | undefined): boolean =>
      one.join() === other?.join();
    if (!after.isReady)
      return [`the good pod ${after.name} is not ready any more: ${cut(after.containers.join(', '))}`];
    return same(after.containers, before?.containers) && same(after.sandboxes, before?.sandboxes)
      ? []
      : [`the good pod ${after.name} was restarted: ${cut([...after.sandboxes, ...after.containers].join(', '))}`];
  });
}

const isManifest = (name: string): boolean => /\.(yaml|yml|json)$/.test(name) && !name.startsWith('.');

/** Each file is either taken, or refused with its name and in words that help. */
function judgeFiles({ files, log }: Played): readonly string[] {
  return files.filter(isManifest).flatMap((name) => {
    const lines = log.filter(({ path }) => path === `/m/${name}`);
    const refusals = lines.filter(({ message }) => message === 'Bad static pod manifest');
    const reports = lines.filter(({ severity }) => severity !== 'debug');
    const problems: string[] = [];
    if (refusals.length === 0 && !lines.some(({ message }) => message === 'Read static pod manifest'))
      problems.push(`${cut(name, 40)} was neither taken nor refused`);
    if (reports.length > maxReports) problems.push(`${reports.length} lines about ${cut(name, 40)}`);
    for (const { error = '' } of refusals) {
      if (!error.startsWith(`/m/${name}:`)) problems.push(`a refusal does not begin with its file: ${cut(error)}`);
      if (bytesOf(error) > maxReportBytes) problems.push(`a refusal of ${bytesOf(error)} bytes: ${cut(error)}`);
      const words = error.slice(name.length + 4);
      if (engineWords.test(words)) problems.push(`a refusal in the words of the engine: ${cut(words)}`);
      if (words.replace(/^[\d: ]+/, '').length < 5) problems.push(`a refusal that says nothing: ${cut(error)}`);
    }
    return problems;
  });
}

function judgePods({ world, pods, apiReads }: Played): readonly string[] {
  return [
    ...pods.flatMap(({ pod, isStatic, status }) => {
      const problems: string[] = [];
      const name = cut(`${pod.metadata?.namespace}/${pod.metadata?.name}`, 80);
      if (status === undefined) problems.push(`${name} was taken, and nothing is said of it`);
      const reference = isStatic && world === 'cluster' ? apiReference(pod) : undefined;
      if (reference !== undefined)
        problems.push(`the static pod ${name} names an object of the API server: ${reference}`);
      for (const text of textsOf(status)) {
        if (bytesOf(text) > maxStatusTextBytes)
          problems.push(`the status of ${name} has a text of ${bytesOf(text)} bytes`);
        if (engineWords.test(text)) problems.push(`the status of ${name} has words of the engine: ${cut(text)}`);
      }
      return problems;
    }),
    ...apiReads
      .filter(
        (read) =>
          world === 'cluster' &&
          pods.every(({ isStatic }) => isStatic) &&
          /^(configmaps|secrets|serviceaccounts)/.test(read),
      )
      .map((read) => `static pods made the agent ask for ${cut(read)}`),
  ];
}

function judgeTexts({ events, log, pods }: Played): readonly string[] {
  const problems: string[] = [];
  if (events.length > maxEvents) problems.push(`${events.length} events`);
  for (const { reason, message } of events) {
    if (bytesOf(message) > maxTextBytes)
      problems.push(`an event ${reason} of ${bytesOf(message)} bytes: ${cut(message)}`);
    if (engineWords.test(message)) problems.push(`an event in the words of the engine: ${cut(message)}`);
  }
  const marks = [secretMark, Buffer.from(secretMark).toString('base64')];
  const texts = [
    ...log.map(({ text }) => text),
    ...events.map(({ message }) => message),
    ...pods.flatMap(({ status }) => textsOf(status)),
  ];
  if (texts.some((text) => marks.some((mark) => text.includes(mark))))
    problems.push('the value of a secret is in a log line, an event or a status');
  return problems;
}

function judgeLog(log: readonly LogLine[]): readonly string[] {
  return log.flatMap(({ message, text, error, errorNames }) => {
    const problems: string[] = [];
    if (bytesOf(text) > maxTextBytes)
      problems.push(`a log line of ${bytesOf(text)} bytes: ${cut(message)}: ${cut(text, 120)}`);
    if (['\0', '\x1b', '\r'].some((control) => text.includes(control)))
      problems.push(`a log line with control characters: ${cut(message)}`);
    const bug = errorNames.find((name) => engineErrors.has(name));
    if (bug !== undefined) problems.push(`a bug shows in the log: ${message}: ${bug}: ${cut(error ?? '')}`);
    return problems;
  });
}

/** Every text of a value, keys of mappings too. */
function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => [key, ...textsOf(part)]);
}

const referringFields = new Set([
  'configMapRef',
  'secretRef',
  'configMapKeyRef',
  'secretKeyRef',
  'configMap',
  'secret',
  'persistentVolumeClaim',
  'ephemeral',
  'csi',
  'resourceClaims',
  'serviceAccountToken',
  'clusterTrustBundle',
  'podCertificate',
  'glusterfs',
  'azureFile',
  'nodePublishSecretRef',
]);

/** Where a pod names something that only an API server has: found by the names of fields, not by what the agent knows of them. */
function apiReference({ spec }: Pod): string | undefined {
  if (spec?.serviceAccountName !== undefined && spec.serviceAccountName !== '') return 'serviceAccountName';
  const find = (value: unknown): string | undefined => {
    if (Array.isArray(value)) return value.map(find).find((found) => found !== undefined);
    if (typeof value !== 'object' || value === null) return undefined;
    for (const [key, part] of Object.entries(value)) {
      const isEmpty = part === undefined || (Array.isArray(part) && part.length === 0);
      if (referringFields.has(key) && !isEmpty) return key;
      const found = find(part);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return find({ ...spec, nodeSelector: undefined, overhead: undefined });
}
