import { isExtendedResource } from './resource-names.ts';

/** A record of devices has the names of a few resources; more of them are of no kubelet. */
const maxResources = 1_000;
const maxNameLength = 317;

/**
 * The resources that device plugins have registered with the kubelet that was here before, by its checkpoint. Throws when
 * it cannot be read. The checksum is left alone: what matters here is not to promise what nobody hands out.
 */
export function checkpointedResources(text: string): readonly string[] {
  const { Data: data } = JSON.parse(text) as { readonly Data?: { readonly RegisteredDevices?: unknown } };
  if (typeof data !== 'object' || data === null) throw new Error('it has no Data');
  const { RegisteredDevices: registered } = data;
  if (registered === null || registered === undefined) return [];
  if (typeof registered !== 'object' || Array.isArray(registered)) throw new Error('RegisteredDevices is no object');
  const names = Object.keys(registered).filter((name) => isExtendedResource(name) && name.length <= maxNameLength);
  if (names.length > maxResources) throw new Error(`it names ${names.length} resources`);
  return names;
}
