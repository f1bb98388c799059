/** A map by absolute path that knows what is below each folder, so that a world of a thousand pods can be listed. It begins empty. */
export class PathMap<T> extends Map<string, T> {
  /** Folder → name → how many paths are at or below it. */
  readonly #names = new Map<string, Map<string, number>>();

  override set(path: string, value: T): this {
    if (!this.has(path)) this.#count(path, 1);
    return super.set(path, value);
  }

  override delete(path: string): boolean {
    if (this.has(path)) this.#count(path, -1);
    return super.delete(path);
  }

  override clear(): void {
    this.#names.clear();
    super.clear();
  }

  /** Names in a folder, which need not have an entry itself. */
  names(folder: string): readonly string[] {
    return [...(this.#names.get(folder)?.keys() ?? [])];
  }

  /** The paths below one, without itself. */
  below(folder: string): readonly string[] {
    return this.names(folder).flatMap((name) => {
      const path = `${folder === '/' ? '' : folder}/${name}`;
      return [...(this.has(path) ? [path] : []), ...this.below(path)];
    });
  }

  #count(path: string, change: 1 | -1): void {
    for (
      let end = path.lastIndexOf('/'), from = path.length;
      end >= 0;
      from = end, end = path.lastIndexOf('/', end - 1)
    ) {
      const folder = end === 0 ? '/' : path.slice(0, end);
      const name = path.slice(end + 1, from);
      const names = this.#names.get(folder) ?? new Map<string, number>();
      const count = (names.get(name) ?? 0) + change;
      if (count > 0) names.set(name, count);
      else names.delete(name);
      if (names.size > 0) this.#names.set(folder, names);
      else this.#names.delete(folder);
      if (end === 0) return;
    }
  }
}
