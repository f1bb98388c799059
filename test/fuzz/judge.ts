import { credentialMark, encodedMarks } from './callers.ts';
import type { FuzzCase } from './case.ts';
import type { Heard } from './client.ts';
import { documentedErrors, excuseFor } from './documented-failures.ts';
import { readFrames } from './http2-frames.ts';
import { readAnswers, type HeardAnswer } from './read-answers.ts';
import { queryMark } from './targets.ts';

/** Below every limit of time: what happens before is not for want of it, however busy the machine. */
const shortestLimitMs = 400;

/** What is wrong with what came of a case. */
export function judge(fuzz: FuzzCase, heard: Heard): readonly string[] {
  const problems: string[] = [];
  if (!heard.ended) problems.push(`the connection is still open after ${Math.round(heard.ms)} ms`);
  problems.push(...secretsIn(heard.bytes.toString('latin1'), fuzz));
  problems.push(...answersIn(fuzz, heard).flatMap((answer) => judgeAnswer(fuzz, answer)));
  if (fuzz.protocol === 'http1') problems.push(...judgeHttp1(fuzz, heard));
  if (fuzz.protocol === 'http2') problems.push(...judgeHttp2(heard));
  return problems;
}

/** An answer as far as it can be told. */
interface Answer {
  readonly status: number | undefined;
  /** Nothing where it was not heard to its end. */
  readonly body: string | undefined;
}

/** All answers that came of a case. */
export function answersIn({ protocol, methods }: FuzzCase, { bytes }: Heard): readonly Answer[] {
  if (protocol === 'none') return [];
  if (protocol === 'http1') return readAnswers(bytes, methods).answers.map((one, at) => told(one, methods?.[at]));
  const { statuses, bodies, ended } = readFrames(bytes);
  return [...statuses].map(([stream, status]) => ({
    status,
    body: ended.has(stream) ? bodies.get(stream) : undefined,
  }));
}

function told({ status, body, isWhole }: HeardAnswer, method: string | undefined): Answer {
  return { status, body: isWhole && method !== 'HEAD' ? body : undefined };
}

function secretsIn(text: string, { echoesCommand }: Pick<FuzzCase, 'echoesCommand'>): readonly string[] {
  const marks = [credentialMark, ...encodedMarks, ...(echoesCommand === true ? [] : [queryMark])];
  return marks.filter((mark) => text.includes(mark)).map((mark) => `an answer has the secret ${mark}`);
}

function judgeHttp1(fuzz: FuzzCase, heard: Heard): readonly string[] {
  const { answers, nonsense, opened } = readAnswers(heard.bytes, fuzz.methods);
  const problems: string[] = [];
  if (answers.some(({ headers }) => headers.has('x-injected')))
    problems.push('a header was made of what a client sent');
  if (answers.some(({ headers }) => headers.has('location'))) problems.push('a client is sent elsewhere');
  if (nonsense !== undefined && fuzz.handsOver !== true) problems.push(`no answer at all: ${JSON.stringify(nonsense)}`);
  if (opened && fuzz.handsOver !== true) problems.push('another protocol was agreed upon');
  // A request may be answered before its framing turns out to be wrong, but then nothing behind it is one.
  const behind = answers.slice(1).map(({ status }) => status);
  if (fuzz.oneAnswer === true && behind.some((status) => status !== 400))
    problems.push(`answers ${answers.map(({ status }) => status).join(', ')} to what may be two requests`);
  const isHeardOut = heard.endedByServer && fuzz.leave.kind === 'stay' && (fuzz.tls === undefined || heard.handshake);
  if (!isHeardOut) return problems;
  const { methods } = fuzz;
  // What is wrong with one of several requests ends the answers before it, too; and limits of time end whatever it is.
  if (methods?.length === 1 && heard.ms < shortestLimitMs) {
    if (answers.length === 0) problems.push('no answer');
    for (const { isWhole, status } of answers)
      if (!isWhole && fuzz.handsOver !== true) problems.push(`an answer ${status} was broken off`);
  }
  if (methods !== undefined && answers.length > methods.length)
    problems.push(`${answers.length} answers to ${methods.length} requests`);
  return problems;
}

function judgeHttp2(heard: Heard): readonly string[] {
  return readFrames(heard.bytes).isNonsense ? ['what came is not HTTP/2'] : [];
}

function judgeAnswer({ listener, entry }: FuzzCase, { status, body }: Answer): readonly string[] {
  const problems: string[] = [];
  if (status === undefined) return problems;
  if (listener === 'secure' && status < 300 && entry === 'nobody')
    problems.push(`somebody who may nothing got ${status}`);
  if (status === 101 && entry !== 'admin') problems.push('somebody who may not run things got a session');
  if (status >= 300 && status < 400) problems.push(`a client is sent elsewhere with ${status}`);
  if (status >= 500 && excuseFor(status, body) === undefined)
    problems.push(`an undocumented ${status}: ${JSON.stringify(body?.slice(0, 300))}`);
  return problems;
}

/** What is wrong with lines of the log. */
export function judgeLog(text: string): readonly string[] {
  const problems: string[] = [];
  for (const line of text.split('\n')) {
    for (const mark of [credentialMark, ...encodedMarks, queryMark])
      if (line.includes(mark)) problems.push(`a line of the log has the secret ${mark}: ${line.slice(0, 400)}`);
    const isDocumented = documentedErrors.some(({ words }) => line.includes(`"${words}"`));
    if (/^E\d{4} /.test(line) && !isDocumented) problems.push(`an undocumented error: ${line.slice(0, 400)}`);
  }
  return problems;
}

/** What is wrong with a request that reached the runtime. */
export function judgeRuntimeHead(head: string): readonly string[] {
  const marks = [`.${credentialMark}.`, ...encodedMarks];
  return marks.filter((mark) => head.includes(mark)).map((mark) => `the runtime was told the secret ${mark}`);
}
