/** One way in which the agent does not do what the record says. */
export interface Difference {
  readonly record: string;
  /** `deliberate`: better on purpose. `missing`: a part that is not there yet. */
  readonly kind: 'deliberate' | 'missing';
  readonly why: string;
  /** What differs, in the words of the comparison: all of it, and nothing else. */
  readonly differs: readonly string[];
}

const lookAtOnce =
  'the agent looks at a container right after it acted on it, and publishes what it sees or was refused at once, ' +
  'where the recorded one says it with its next round';
const emptyDirMarks = [
  'file missing: 644 plugins/kubernetes.io~empty-dir/e/ready',
  'file missing: 750 plugins/kubernetes.io~empty-dir',
  'file missing: 750 plugins/kubernetes.io~empty-dir/e',
];
const pullFailure =
  'failed to pull and unpack image "127.0.0.1:9/none:1": failed to resolve reference "127.0.0.1:9/none:1": ' +
  'failed to do request: Head "http://127.0.0.1:9/v2/none/manifests/1": dial tcp 127.0.0.1:9: connect: connection refused';
const pullBackOff = `Back-off pulling image "127.0.0.1:9/none:1": ErrImagePull: ${pullFailure}`;
const crashBackOff = 'back-off 20s restarting failed container=c pod=crash-loop_{{namespace}}({{podUid}})';

/** Every difference from the records there is. A row that no longer holds makes its test fail, and so does a new one. */
export const differences: readonly Difference[] = [
  {
    record: 'crash-loop',
    kind: 'deliberate',
    why: `a restart comes when its back-off ends, not at the round after it, so there is time for the next wait; ${lookAtOnce}`,
    differs: [
      `container c also: #2, waiting, CrashLoopBackOff, ${crashBackOff}, before: exit 1, Error`,
      'held status.containerStatuses.0.lastState.terminated.containerID: ' +
        'recorded "containerd://{{id2}}", ours "containerd://{{id3}}"',
      'held status.containerStatuses.0.state.terminated: recorded {…}, ours nothing',
      'held status.containerStatuses.0.state.waiting: recorded nothing, ours {…}',
    ],
  },
  {
    record: 'init-two',
    kind: 'deliberate',
    why: lookAtOnce,
    differs: ['container i1 also: #0, running, started'],
  },
  {
    record: 'pull-fails',
    kind: 'deliberate',
    why: lookAtOnce,
    differs: [
      `container c also: #0, waiting, ImagePullBackOff, ${pullBackOff}`,
      `held status.containerStatuses.0.state.waiting.message: recorded ${JSON.stringify(pullFailure)}, ` +
        `ours ${JSON.stringify(pullBackOff)}`,
      'held status.containerStatuses.0.state.waiting.reason: recorded "ErrImagePull", ours "ImagePullBackOff"',
    ],
  },
  {
    record: 'sc-nonroot-violation',
    kind: 'deliberate',
    why: 'a container that may not run as root is refused before any file is made for it',
    differs: ['file missing: 644 etc-hosts', 'file missing: 750 containers', 'file missing: 750 containers/c'],
  },
  {
    record: 'sc-user',
    kind: 'missing',
    why: 'fsGroup on volumes, and the marks of a finished set-up, come with the volumes (issue E)',
    differs: [
      ...emptyDirMarks,
      'file missing: 2777 volumes/kubernetes.io~empty-dir/e',
      'file extra: 777 volumes/kubernetes.io~empty-dir/e',
    ],
  },
  {
    record: 'vol-subpath',
    kind: 'missing',
    why: 'sub-paths are asked for in the mounts, but made and bound only with the volumes (issue E)',
    differs: [
      ...emptyDirMarks,
      'file missing: 644 volume-subpaths/c/c/2',
      'file missing: 750 volume-subpaths',
      'file missing: 750 volume-subpaths/c',
      'file missing: 750 volume-subpaths/c/c',
      'file missing: 750 volume-subpaths/e',
      'file missing: 750 volume-subpaths/e/c',
      'file missing: 777 volume-subpaths/e/c/0',
      'file missing: 777 volume-subpaths/e/c/1',
      'file missing: 777 volumes/kubernetes.io~empty-dir/e/one',
      'file missing: 777 volumes/kubernetes.io~empty-dir/e/one/two',
      'file missing: 777 volumes/kubernetes.io~empty-dir/e/vol-subpath',
    ],
  },
];

/** Records that differ in nothing but time: they are deleted at the same point of their life, which ours reaches sooner. */
export const sooner: ReadonlyMap<string, { readonly holdSeconds: number; readonly why: string }> = new Map([
  [
    'liveness-exec',
    {
      holdSeconds: 7,
      why: 'the first probe is asked when the container has started; the recorded agent waits up to a period before it',
    },
  ],
]);
