/** Goes through a list and lets others have their turn after every few entries. */
export async function* otherTurns<T>(list: readonly T[], entries: number, signal: AbortSignal): AsyncGenerator<T> {
  for (const [index, entry] of list.entries()) {
    if (index > 0 && index % entries === 0) {
      await new Promise<void>((resolve) => void setImmediate(resolve));
      signal.throwIfAborted();
    }
    yield entry;
  }
}
