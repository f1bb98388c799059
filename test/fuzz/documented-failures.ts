/** An answer that says it is the server's fault, and why that is as it should be. */
interface DocumentedFailure {
  readonly status: number;
  /** How the page begins, for people. */
  readonly words: string;
  /** What the whole page may be. */
  readonly body: RegExp;
  readonly why: string;
  /** The files below `src/server` that say so; none where the words come from elsewhere. */
  readonly from: readonly string[];
  /** No client can bring it about by itself, so that a fuzz run must not see it. */
  readonly unseen?: true;
}

/** All answers of 500 and above that a client may ever see. */
export const documentedFailures: readonly DocumentedFailure[] = [
  {
    status: 500,
    words: 'Authorization error (user=',
    body: /^Authorization error \(user=/,
    why: 'the API server could not be asked what this user may do',
    from: ['listener/admission.ts'],
  },
  {
    status: 500,
    words: 'container not found ("',
    body: /^container not found \("/,
    why: 'a session or a command for a container that does not run',
    from: ['streaming/session.ts', 'routes/run.ts'],
  },
  {
    status: 500,
    words: 'pod not found ("',
    body: /^pod not found \("/,
    why: 'port forwarding to a pod that does not run',
    from: ['streaming/session.ts'],
  },
  {
    status: 500,
    words: 'rpc error: code = ',
    // What the fake runtime says has no code.
    body: /^rpc error: code = \w+ desc = |^(the runtime is (away|broken)|cannot be run)$/,
    why: 'the runtime refused a session or a command; these are its words',
    from: ['streaming/session.ts', 'routes/run.ts'],
  },
  {
    status: 500,
    words: 'no answer within ',
    body: /^no answer within \d+ s$/,
    why: 'the runtime did not answer in time',
    from: ['streaming/session.ts', 'routes/run.ts'],
  },
  {
    status: 500,
    words: 'the container runtime gave no address of the session',
    body: /^the container runtime gave no address of the session$/,
    why: 'the runtime opened a session, but not where',
    from: ['streaming/session.ts'],
  },
  {
    status: 500,
    words: 'cannot reach the streaming server of the container runtime: ',
    body: /^cannot reach the streaming server of the container runtime: /,
    why: "no server listens at the session's address, or it does not answer",
    from: ['streaming/hand-over.ts'],
  },
  {
    status: 502,
    words: 'the container runtime gave an answer of no use',
    body: /^the container runtime gave an answer of no use$/m,
    why: 'what is at that address speaks no HTTP, or breaks off',
    from: ['streaming/hand-over.ts'],
  },
  {
    status: 500,
    words: 'anything',
    body: /^the runtime failed$/,
    why: "the streaming server's own answer to the session, passed on",
    from: [],
  },
  {
    status: 503,
    words: 'anything',
    body: /^the runtime is busy$/,
    why: "the streaming server's own answer to the session, passed on",
    from: [],
  },
  {
    status: 500,
    words: "command '",
    body: /^command '/,
    why: 'a command of `/run` ended with another code than 0',
    from: ['routes/run.ts'],
  },
  {
    status: 500,
    words: 'checkpointing of ',
    body: /^checkpointing of \S+ failed \(/,
    why: 'the runtime wrote no checkpoint',
    from: ['routes/checkpoint.ts'],
  },
  {
    status: 503,
    words: 'Service Unavailable',
    body: /^Service Unavailable\n$/,
    why: 'the agent is about to end',
    from: ['listener/pipeline.ts'],
    unseen: true,
  },
  {
    status: 504,
    words: 'Gateway Timeout',
    // On the quick clock a minute is three seconds, which a busy machine can lose.
    body: /^Gateway Timeout$/m,
    why: 'a page was not ready within its time, a minute for most',
    from: ['listener/pipeline.ts'],
  },
  {
    status: 500,
    words: '[+]ping ok',
    body: /^\[[+-]\]\w+ (.*\n)*healthz check failed\n$/,
    why: '`/healthz`: one of the checks fails, and the page says which',
    from: ['health-checks.ts'],
    unseen: true,
  },
  {
    status: 500,
    words: 'internal server error: ',
    body: /^internal server error: /,
    why: '`/healthz/{check}`: this check fails',
    from: ['health-checks.ts'],
    unseen: true,
  },
  {
    status: 500,
    words: '500 Internal Server Error',
    body: /^500 Internal Server Error\n$/,
    why: '`/logs/`: the disk fails; with `--v=2` the log has the reason',
    from: ['node-logs/file-pages.ts'],
    unseen: true,
  },
  {
    status: 500,
    words: 'Internal Server Error',
    body: /^Internal Server Error\n$/,
    why: 'a bug, or the runtime has not been reached since the start; the log has the reason',
    from: ['listener/pipeline.ts'],
    unseen: true,
  },
];

/** Why an answer is as it should be, though it says that the server failed; of some nobody heard the whole page. */
export function excuseFor(status: number, body: string | undefined): DocumentedFailure | undefined {
  return documentedFailures.find(
    (failure) =>
      failure.unseen !== true && failure.status === status && (body === undefined || failure.body.test(body)),
  );
}

/** For people. What the runtime says of itself may be anything. */
export function failuresTable(): string {
  const rows = documentedFailures.map(({ status, words, why, from }) =>
    from.length === 0 ? `| 5xx | ${words} | ${why} |` : `| ${status} | \`${words}\` | ${why} |`,
  );
  return ['| code | page begins with | when |', '| --- | --- | --- |', ...new Set(rows)].join('\n');
}

/** Lines of the log at the level of errors that clients can bring about, and why that is as it should be. */
export const documentedErrors: readonly { readonly words: string; readonly why: string }[] = [
  { words: 'Authorization error', why: 'nobody can be asked what the caller may do' },
  { words: 'Unable to authenticate the request due to an error', why: 'nobody can be asked who the caller is' },
  {
    words: 'A streaming session could not be handed over to the container runtime',
    why: 'the runtime misbehaves, and whoever runs the node must know',
  },
];
