/** An event about an object; programs compare its reason, people read its message. */
export interface ObjectEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface PodEvent extends ObjectEvent {
  /** `spec.containers{web}` where the event is about a container. */
  readonly fieldPath?: string;
}
