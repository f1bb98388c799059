/** Branded ids: strings that cannot be passed for one another. */
declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** UID of a pod as the sources gave it; for a static pod the hash of its content. */
export type PodUid = Branded<'PodUid'>;
/** `<name>_<namespace>`: of static pods with one full name only one runs at a time. */
export type PodFullName = Branded<'PodFullName'>;
/** Id of a sandbox in the runtime. */
export type SandboxId = Branded<'SandboxId'>;
/** Id of a container in the runtime, without the `containerd://` of the API. */
export type ContainerId = Branded<'ContainerId'>;

export const podUid = (text: string): PodUid => text as PodUid;
export const sandboxId = (text: string): SandboxId => text as SandboxId;
export const containerId = (text: string): ContainerId => text as ContainerId;
export const podFullName = (name: string, namespace: string): PodFullName => `${name}_${namespace}` as PodFullName;
