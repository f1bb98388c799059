/** One way in which the agent does not do what the record says. */
interface Difference {
  readonly record: string;
  /** `deliberate`: better on purpose. `missing`: a part that is not there yet. */
  readonly kind: 'deliberate' | 'missing';
  readonly why: string;
  /** What differs, in the words of the comparison: all of it, and nothing else. */
  readonly differs: readonly string[];
}

/** Every difference from the records there is. A row that no longer holds makes its test fail, and so does a new one. */
export const differences: readonly Difference[] = [
  {
    record: 'init-two',
    kind: 'deliberate',
    why:
      'the agent looks at a container right after it acted on it, and publishes what it sees at once, where the recorded ' +
      'one sees it with its next round, when it has ended',
    differs: ['container i1 also: #0, running, started'],
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
