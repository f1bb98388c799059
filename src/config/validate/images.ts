import { Duration } from '../../base/duration.ts';
import type { Fault } from '../fault.ts';
import { parsed } from './resources.ts';
import { check, needsGate, oneOf, type ValidationInput } from './rule.ts';

const verificationPolicies: readonly string[] = [
  'NeverVerify',
  'NeverVerifyPreloadedImages',
  'NeverVerifyAllowlistedImages',
  'AlwaysVerify',
];
const maxRestartPeriod = Duration.parse('300s');
const minRestartPeriod = Duration.parse('1s');

export function checkImages({ config, gates }: ValidationInput): readonly Fault[] {
  const { imageGCLowThresholdPercent: low, imageGCHighThresholdPercent: high, imageMaximumGCAge: oldest } = config;
  const { maxParallelImagePulls: parallel, serializeImagePulls, imageMinimumGCAge: youngest } = config;
  return [
    ...check(low >= high, 'imageGCLowThresholdPercent', low, `must be below imageGCHighThresholdPercent (${high})`),
    ...needsGate(oldest.nanos !== 0n, 'imageMaximumGCAge', 'ImageMaximumGCAge', gates),
    ...check(oldest.nanos < 0n, 'imageMaximumGCAge', oldest, 'must not be negative (0s turns it off)'),
    ...check(
      oldest.nanos > 0n && oldest.compare(youngest) <= 0,
      'imageMaximumGCAge',
      oldest,
      `must be more than imageMinimumGCAge (${youngest.toString()})`,
    ),
    ...check(parallel !== undefined && parallel < 1, 'maxParallelImagePulls', parallel, 'must be 1 or more'),
    ...check(
      parallel !== undefined && parallel > 1 && serializeImagePulls,
      'maxParallelImagePulls',
      parallel,
      'needs serializeImagePulls: false to be more than 1',
    ),
    ...checkVerification(config, gates),
  ];
}

function checkVerification(config: ValidationInput['config'], gates: ValidationInput['gates']): readonly Fault[] {
  const { imagePullCredentialsVerificationPolicy: policy, preloadedImagesVerificationAllowlist: list } = config;
  const field = 'preloadedImagesVerificationAllowlist';
  const gate = 'KubeletEnsureSecretPulledImages';
  return [
    ...needsGate(policy !== '', 'imagePullCredentialsVerificationPolicy', gate, gates),
    ...(policy === '' ? [] : oneOf('imagePullCredentialsVerificationPolicy', policy, verificationPolicies)),
    ...check(
      list.length > 0 && policy !== 'NeverVerifyAllowlistedImages',
      field,
      list,
      'needs imagePullCredentialsVerificationPolicy: NeverVerifyAllowlistedImages',
    ),
    ...list.flatMap((pattern) =>
      check(
        !isImagePattern(pattern),
        field,
        pattern,
        'must be an image name without tag and digest, or a prefix that ends in /*',
      ),
    ),
  ];
}

/** An image name, or names below a path; `*` alone would match everything and is refused. */
function isImagePattern(pattern: string): boolean {
  const name = pattern.endsWith('/*') ? pattern.slice(0, -2) : pattern;
  if (name === '' || name.trim() !== name || /[*@\s]/.test(name)) return false;
  // A colon is a port only before the first slash of a longer name; elsewhere it starts a tag.
  return !name.slice(name.lastIndexOf('/') + 1).includes(':') || (pattern.endsWith('/*') && !name.includes('/'));
}

export function checkContainers({ config, gates }: ValidationInput): readonly Fault[] {
  const { containerLogMaxSize: size, podLogsDir, containerRuntimeEndpoint: endpoint } = config;
  const period = config.crashLoopBackOff.maxContainerRestartPeriod;
  const field = 'crashLoopBackOff.maxContainerRestartPeriod';
  return [
    ...check(parsed(size) === undefined, 'containerLogMaxSize', size, 'must be a quantity such as 10Mi'),
    ...check(!isCleanPath(podLogsDir), 'podLogsDir', podLogsDir, 'must be an absolute, normal path of ASCII letters'),
    ...check(endpoint === '', 'containerRuntimeEndpoint', endpoint, 'must name the socket of a container runtime'),
    ...needsGate(period !== undefined, field, 'KubeletCrashLoopBackOffMax', gates),
    ...check(
      period !== undefined && (period.compare(minRestartPeriod) < 0 || period.compare(maxRestartPeriod) > 0),
      field,
      period,
      'must be from 1s to 300s',
    ),
    ...config.allowedUnsafeSysctls.flatMap((pattern) =>
      check(!/^[^*\s]+\*?$/.test(pattern), 'allowedUnsafeSysctls', pattern, 'must be names, with * only at the end'),
    ),
  ];
}

function isCleanPath(path: string): boolean {
  if (path === '/') return true;
  const parts = path.split('/').slice(1);
  return path.startsWith('/') && /^[\x20-\x7e]*$/.test(path) && !parts.some((part) => ['', '.', '..'].includes(part));
}
