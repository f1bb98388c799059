import type { ImageUser } from './security-context.ts';

/** An image that is on the node, ready to make a container of. */
export interface PresentImage {
  /** By digest or id, as the runtime takes it. */
  readonly ref: string;
  readonly user: ImageUser;
}
