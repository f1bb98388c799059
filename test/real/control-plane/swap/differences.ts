/** A way in which two things may differ, and why that is right. */
interface Explained {
  readonly pattern: RegExp;
  readonly why: string;
}

/** What may change in pods when another agent takes over. */
export const onTakeOver: readonly Explained[] = [
  {
    pattern: /^file inside \S+ \S+ \/(v\/all|var\/run\/\S*serviceaccount)\/(token|\.\.data)(\/token)?( \(content\))?: /,
    why: 'tokens live in the memory of the agent that asked for them: each agent asks for its own when it starts',
  },
  {
    pattern: /^file inside \S+ \S+ \/v\/self\/(notes|\.\.data)(\/notes)?( \(content\))?: /,
    why: 'annotations as a volume shows them include config.seen, the moment at which the present agent saw the pod first',
  },
];

/** What may differ between equal pods of both agents. */
export const betweenTwins: readonly Explained[] = [
  {
    pattern: /^crash (logs|status|files \/containers\/main)/,
    why: 'how often the crashing pod has been restarted, whether it runs and what it said depends on the moment',
  },
  {
    pattern: /^crash runtime main\.\S*(restartCount|attempt|log_?[pP]ath|status\.(state|exitCode|reason|message)): /,
    why: 'as above, in the words of the runtime',
  },
  {
    pattern: /^\S+ files \/(volumes)?: folder 755 0:0 -> folder 750 0:0$/,
    why: "the Go kubelet's volumes may be there before its worker has made the pod's folders, and then are less strict",
  },
];

/** Those that no row explains; rows that explain nothing are named too. */
export function unexplained(
  found: readonly string[],
  rows: readonly Explained[],
): { readonly open: readonly string[]; readonly idle: readonly string[] } {
  const open = found.filter((text) => !rows.some(({ pattern }) => pattern.test(text)));
  const idle = rows.filter(({ pattern }) => !found.some((text) => pattern.test(text))).map(({ why }) => why);
  return { open, idle };
}
