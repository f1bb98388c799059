/**
 * One kind of notification from one owner. It exists before owner and listeners do, so that neither has to know the other:
 * components that need it register while the program is composed, the owner broadcasts once it runs.
 */
export class Broadcaster<T> {
  readonly #listeners: ((news: T) => void)[] = [];

  listen(listener: (news: T) => void): void {
    this.#listeners.push(listener);
  }

  /** Listeners are called at once, in the order in which they registered; they only note what is due. */
  broadcast(news: T): void {
    for (const listener of this.#listeners) listener(news);
  }
}
