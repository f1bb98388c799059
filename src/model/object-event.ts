/** What an event says about an object: for people, and of use to programs by its reason. */
export interface ObjectEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface PodEvent extends ObjectEvent {
  /** `spec.containers{web}` where the event is about a container. */
  readonly fieldPath?: string;
}
