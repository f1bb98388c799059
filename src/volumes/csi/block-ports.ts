/** Devices and the links that lead to them. */
export interface BlockDevices {
  /** Makes a link, in the place of one that leads elsewhere. */
  link(path: string, target: string): Promise<void>;
  /** Removes a link. What is not there is fine. */
  unlink(path: string): Promise<void>;
  /** Opens the device at a path and keeps it open, so that its number is not reused. Fails where there is no block device. */
  hold(path: string, signal: AbortSignal): Promise<void>;
  /** Closes it again. What is not held is fine. */
  release(path: string): Promise<void>;
  /** Removes an empty file that a device was bound to; nothing else. What is not there is fine. */
  removePlaceholder(path: string): Promise<void>;
}
