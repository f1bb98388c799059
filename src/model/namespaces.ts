import { NamespaceMode, NamespaceOption, type IDMapping } from '../gen/cri/api.ts';
import type { PodSpec } from '../gen/kubernetes/types.ts';

/** The block of host ids that is allocated to a pod with its own user namespace. */
export interface UserNamespaceBlock {
  readonly hostId: number;
  readonly length: number;
}

export interface NamespaceChoices {
  /** Needed exactly when the pod asks for its own users. */
  readonly userNamespace?: UserNamespaceBlock;
  /** The container whose processes an ephemeral container wants to see. */
  readonly targetContainerId?: string;
}

/** Which namespaces a pod's containers share with the node, share with each other, or have for themselves. */
export function namespaceOptions(spec: PodSpec, choices: NamespaceChoices = {}): NamespaceOption {
  const mappings = idMappings(choices.userNamespace);
  const pid = pidMode(spec, choices.targetContainerId);
  return NamespaceOption.fromPartial({
    network: spec.hostNetwork === true ? NamespaceMode.NODE : NamespaceMode.POD,
    ipc: spec.hostIPC === true ? NamespaceMode.NODE : NamespaceMode.POD,
    pid,
    targetId: pid === NamespaceMode.TARGET ? (choices.targetContainerId ?? '') : '',
    usernsOptions:
      spec.hostUsers === false
        ? { mode: NamespaceMode.POD, uids: mappings, gids: mappings }
        : { mode: NamespaceMode.NODE },
  });
}

/** The pod's root is the first id of its block. */
export function idMappings(block: UserNamespaceBlock | undefined): IDMapping[] {
  return block === undefined ? [] : [{ hostId: block.hostId, containerId: 0, length: block.length }];
}

/** Where the pod shares its processes, an ephemeral container sees the target's without joining its namespace. */
function pidMode(spec: PodSpec, targetContainerId: string | undefined): NamespaceMode {
  if (spec.hostPID === true) return NamespaceMode.NODE;
  if (spec.shareProcessNamespace === true) return NamespaceMode.POD;
  return targetContainerId === undefined ? NamespaceMode.CONTAINER : NamespaceMode.TARGET;
}
