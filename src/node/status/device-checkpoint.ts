import { isExtendedResource } from './resource-names.ts';

/** A checkpoint names a few resources; one with more was not written by a kubelet. */
const maxResources = 1_000;
const maxNameLength = 317;

/**
 * The resources that device plugins have registered with the kubelet that ran here before, by its checkpoint. Throws
 * when it cannot be read. The checksum is not verified: the names serve only to withdraw resources without a plugin.
 */
export function checkpointedResources(text: string): readonly string[] {
  const { Data: data } = JSON.parse(text) as { readonly Data?: { readonly RegisteredDevices?: unknown } };
  if (typeof data !== 'object' || data === null) throw new Error('it has no Data');
  const { RegisteredDevices: registered } = data;
  if (registered === null || registered === undefined) return [];
  if (typeof registered !== 'object' || Array.isArray(registered))
    throw new Error('RegisteredDevices is not an object');
  const names = Object.keys(registered).filter((name) => isExtendedResource(name) && name.length <= maxNameLength);
  if (names.length > maxResources) throw new Error(`it names ${names.length} resources`);
  return names;
}
