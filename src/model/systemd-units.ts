/** The value of a property, with its type as D-Bus writes it: truth, unsigned 64 bits, text, texts, bytes. */
export type UnitValue =
  | { readonly type: 'b'; readonly value: boolean }
  | { readonly type: 't'; readonly value: bigint }
  | { readonly type: 's'; readonly value: string }
  | { readonly type: 'as'; readonly value: readonly string[] }
  | { readonly type: 'ay'; readonly value: Uint8Array };

export interface UnitProperty {
  readonly name: string;
  readonly value: UnitValue;
}

/** systemd's units, over D-Bus. */
export interface SystemdUnits {
  /** The first number of systemd's version; undefined where it could not be read. Asked once. */
  version(): Promise<number | undefined>;
  /** Resolves when the job has ended; 'existed' when there was such a unit, whose properties stay as they are. */
  startTransientUnit(name: string, properties: readonly UnitProperty[]): Promise<'started' | 'existed'>;
  setUnitProperties(name: string, properties: readonly UnitProperty[]): Promise<void>;
  /** Resolves when the unit is gone, and its failed state with it; a unit that is not there is no error. */
  stopUnit(name: string): Promise<void>;
}
