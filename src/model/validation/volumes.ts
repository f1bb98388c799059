import type {
  DownwardAPIVolumeFile,
  KeyToPath,
  ProjectedVolumeSource,
  Volume,
  VolumeProjection,
} from '../../gen/kubernetes/types.ts';
import { downwardFileFields, validateFieldRef, validateResourceRef } from './environment.ts';
import type { Faults } from './faults.ts';
import type { FieldPath } from './field-path.ts';
import { descendingPath, dnsLabel, noBacksteps, unreservedPath } from './names.ts';
import { parseAmount } from './resources.ts';

type VolumeKind = Exclude<keyof Volume, 'name'>;

const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];
const maxFileMode = 0o777;

/** Fields without which a volume of that kind cannot be mounted. */
const requiredFields: Readonly<Partial<Record<VolumeKind, readonly string[]>>> = {
  awsElasticBlockStore: ['volumeID'],
  azureDisk: ['diskName', 'diskURI'],
  azureFile: ['secretName', 'shareName'],
  cephfs: ['monitors'],
  cinder: ['volumeID'],
  configMap: ['name'],
  csi: ['driver'],
  ephemeral: ['volumeClaimTemplate'],
  flexVolume: ['driver'],
  gcePersistentDisk: ['pdName'],
  gitRepo: ['repository'],
  glusterfs: ['endpoints', 'path'],
  hostPath: ['path'],
  image: ['reference'],
  iscsi: ['targetPortal', 'iqn'],
  nfs: ['server', 'path'],
  persistentVolumeClaim: ['claimName'],
  photonPersistentDisk: ['pdID'],
  portworxVolume: ['volumeID'],
  quobyte: ['registry', 'volume'],
  rbd: ['monitors', 'image'],
  scaleIO: ['gateway', 'system', 'volumeName'],
  secret: ['secretName'],
  vsphereVolume: ['volumePath'],
};

/** Checks the volumes of a pod and returns those that containers may refer to, by name. */
export function validateVolumes(
  volumes: readonly Volume[],
  path: FieldPath,
  faults: Faults,
): ReadonlyMap<string, Volume> {
  const byName = new Map<string, Volume>();
  for (const [index, volume] of volumes.entries()) {
    const at = [...path, index];
    validateSources(volume, at, faults);
    if (volume.name === '') faults.required([...at, 'name']);
    else {
      faults.check([...at, 'name'], volume.name, dnsLabel);
      if (byName.has(volume.name)) faults.duplicate([...at, 'name'], volume.name);
      else byName.set(volume.name, volume);
    }
  }
  return byName;
}

function validateSources(volume: Volume, path: FieldPath, faults: Faults): void {
  const kinds = (Object.keys(volume) as (keyof Volume)[]).filter((key): key is VolumeKind => key !== 'name');
  if (kinds.length === 0) faults.required(path, 'must specify a volume type');
  for (const kind of kinds.slice(1)) faults.forbidden([...path, kind], 'may not specify more than 1 volume type');
  for (const kind of kinds) {
    const source: Readonly<Record<string, unknown>> = { ...volume[kind] };
    for (const field of requiredFields[kind] ?? []) if (isEmpty(source[field])) faults.required([...path, kind, field]);
  }
  validateLocalSources(volume, path, faults);
  validateFileSources(volume, path, faults);
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}

/** The kinds that a node provides by itself. */
function validateLocalSources(volume: Volume, path: FieldPath, faults: Faults): void {
  const { emptyDir, hostPath, gitRepo, nfs, image } = volume;
  if (hostPath) {
    faults.check([...path, 'hostPath', 'path'], hostPath.path, noBacksteps);
    faults.optionalOneOf([...path, 'hostPath', 'type'], hostPath.type, hostPathTypes);
  }
  if (emptyDir?.sizeLimit !== undefined) {
    const limit = parseAmount(emptyDir.sizeLimit);
    if (limit === undefined || limit.sign() < 0) {
      faults.invalid([...path, 'emptyDir', 'sizeLimit'], emptyDir.sizeLimit, 'must be a valid resource quantity');
    }
  }
  if (gitRepo) faults.check([...path, 'gitRepo', 'directory'], gitRepo.directory ?? '', descendingPath);
  if (nfs && nfs.path !== '' && !nfs.path.startsWith('/')) {
    faults.invalid([...path, 'nfs', 'path'], nfs.path, 'must be an absolute path');
  }
  if (image) faults.oneOf([...path, 'image', 'pullPolicy'], image.pullPolicy, ['Always', 'IfNotPresent', 'Never']);
}

/** The kinds that are written out as files. */
function validateFileSources(volume: Volume, path: FieldPath, faults: Faults): void {
  for (const kind of ['secret', 'configMap', 'downwardAPI', 'projected'] as const) {
    checkMode([...path, kind, 'defaultMode'], volume[kind]?.defaultMode, faults);
  }
  validateItems(volume.secret?.items, [...path, 'secret', 'items'], faults);
  validateItems(volume.configMap?.items, [...path, 'configMap', 'items'], faults);
  validateDownwardFiles(volume.downwardAPI?.items, [...path, 'downwardAPI', 'items'], faults);
  if (volume.projected) validateProjected(volume.projected, [...path, 'projected', 'sources'], faults);
}

function validateItems(items: readonly KeyToPath[] | undefined, path: FieldPath, faults: Faults): void {
  for (const [index, item] of (items ?? []).entries()) {
    const at = [...path, index];
    if (item.key === '') faults.required([...at, 'key']);
    if (item.path === '') faults.required([...at, 'path']);
    faults.check([...at, 'path'], item.path, unreservedPath);
    checkMode([...at, 'mode'], item.mode, faults);
  }
}

function validateDownwardFiles(
  files: readonly DownwardAPIVolumeFile[] | undefined,
  path: FieldPath,
  faults: Faults,
): void {
  for (const [index, file] of (files ?? []).entries()) {
    const at = [...path, index];
    if (file.path === '') faults.required([...at, 'path']);
    faults.check([...at, 'path'], file.path, unreservedPath);
    checkMode([...at, 'mode'], file.mode, faults);
    if (file.fieldRef) validateFieldRef(file.fieldRef, downwardFileFields, [...at, 'fieldRef'], faults);
    if (file.resourceFieldRef) validateResourceRef(file.resourceFieldRef, true, [...at, 'resourceFieldRef'], faults);
    if (file.fieldRef && file.resourceFieldRef) {
      faults.invalid(at, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
    } else if (!file.fieldRef && !file.resourceFieldRef) {
      faults.required(at, 'one of fieldRef and resourceFieldRef is required');
    }
  }
}

function validateProjected(projected: ProjectedVolumeSource, path: FieldPath, faults: Faults): void {
  const taken = new Set<string>();
  for (const [index, source] of (projected.sources ?? []).entries()) {
    const at = [...path, index];
    const kinds = Object.keys(source);
    if (kinds.length !== 1) faults.required(at, 'must specify exactly one kind of source');
    if (source.secret && !source.secret.name) faults.required([...at, 'secret', 'name']);
    if (source.configMap && !source.configMap.name) faults.required([...at, 'configMap', 'name']);
    validateItems(source.secret?.items, [...at, 'secret', 'items'], faults);
    validateItems(source.configMap?.items, [...at, 'configMap', 'items'], faults);
    validateDownwardFiles(source.downwardAPI?.items, [...at, 'downwardAPI', 'items'], faults);
    if (source.serviceAccountToken) validateToken(source.serviceAccountToken, [...at, 'serviceAccountToken'], faults);
    for (const [written, where] of writtenPaths(source)) {
      if (written !== '' && taken.has(written))
        faults.invalid([...at, ...where], written, 'conflicting duplicate paths');
      taken.add(written);
    }
  }
}

function validateToken(
  token: NonNullable<VolumeProjection['serviceAccountToken']>,
  path: FieldPath,
  faults: Faults,
): void {
  const { expirationSeconds } = token;
  if (token.path === '') faults.required([...path, 'path']);
  else faults.check([...path, 'path'], token.path, unreservedPath);
  if (expirationSeconds !== undefined && (expirationSeconds < 600 || expirationSeconds > 2 ** 32)) {
    faults.invalid([...path, 'expirationSeconds'], expirationSeconds, 'must be between 10 minutes and 2^32 seconds');
  }
}

/** The files that a projection names itself; two sources must not write the same one. */
function writtenPaths(source: VolumeProjection): readonly (readonly [string, FieldPath])[] {
  const items = (['secret', 'configMap', 'downwardAPI'] as const).flatMap((kind) =>
    (source[kind]?.items ?? []).map((item, index) => [item.path, [kind, 'items', index, 'path']] as const),
  );
  const token = source.serviceAccountToken;
  return token === undefined ? items : [...items, [token.path, ['serviceAccountToken', 'path']] as const];
}

function checkMode(path: FieldPath, mode: number | undefined, faults: Faults): void {
  if (mode !== undefined && (mode < 0 || mode > maxFileMode)) {
    faults.invalid(path, mode, 'must be between 0 and 0777 (octal), both inclusive');
  }
}
