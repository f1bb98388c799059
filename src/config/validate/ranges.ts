import { Duration } from '../../base/duration.ts';
import type { Fault } from '../fault.ts';
import type { KubeletConfiguration } from '../schema/fields.ts';
import { topologyOptions } from './resources.ts';
import { check, oneOf, type ValidationInput } from './rule.ts';

type NumberField = {
  [K in keyof KubeletConfiguration]: KubeletConfiguration[K] extends number ? K : never;
}[keyof KubeletConfiguration];

const unlimited = Number.POSITIVE_INFINITY;

/** Bounds of single numbers: field, smallest, largest, and a note for the message. */
const numberRanges: readonly (readonly [NumberField, number, number, string?])[] = [
  ['port', 1, 65535],
  ['readOnlyPort', 0, 65535, '0 turns the server off'],
  ['healthzPort', 0, 65535, '0 turns the server off'],
  ['registryPullQPS', 0, unlimited, '0 means no limit'],
  ['registryBurst', 0, unlimited],
  ['eventRecordQPS', 0, unlimited, '0 means no limit'],
  ['eventBurst', 0, unlimited],
  ['kubeAPIQPS', 0, unlimited],
  ['kubeAPIBurst', 0, unlimited],
  ['oomScoreAdj', -1000, 1000],
  ['nodeLeaseDurationSeconds', 1, unlimited],
  ['imageGCHighThresholdPercent', 0, 100],
  ['imageGCLowThresholdPercent', 0, 100],
  ['maxPods', 0, unlimited],
  ['podsPerCore', 0, unlimited, '0 means no such limit'],
  ['nodeStatusMaxImages', -1, unlimited, '-1 lists all'],
  ['maxOpenFiles', 0, unlimited],
  ['iptablesMasqueradeBit', 0, 31],
  ['iptablesDropBit', 0, 31],
  ['containerLogMaxFiles', 2, unlimited],
  ['containerLogMaxWorkers', 1, unlimited],
];

export function checkNumbers({ config }: ValidationInput): readonly Fault[] {
  return numberRanges.flatMap(([field, smallest, largest, note]) => {
    const value = config[field];
    const bounds = largest === unlimited ? `must be ${smallest} or more` : `must be from ${smallest} to ${largest}`;
    const demand = note === undefined ? bounds : `${bounds} (${note})`;
    return check(value < smallest || value > largest, field, value, demand);
  });
}

/** Fields with a fixed set of words. */
export function checkWords({ config }: ValidationInput): readonly Fault[] {
  const words: readonly (readonly [string, string, readonly string[]])[] = [
    ['authorization.mode', config.authorization.mode, ['AlwaysAllow', 'Webhook']],
    ['cgroupDriver', config.cgroupDriver, ['cgroupfs', 'systemd']],
    ['cpuManagerPolicy', config.cpuManagerPolicy, ['none', 'static']],
    ['memoryManagerPolicy', config.memoryManagerPolicy, ['None', 'Static']],
    ['topologyManagerPolicy', config.topologyManagerPolicy, ['none', 'best-effort', 'restricted', 'single-numa-node']],
    ['topologyManagerScope', config.topologyManagerScope, ['container', 'pod']],
    ['hairpinMode', config.hairpinMode, ['none', 'hairpin-veth', 'promiscuous-bridge']],
    ['memorySwap.swapBehavior', config.memorySwap.swapBehavior, ['', 'NoSwap', 'LimitedSwap']],
    [
      'configMapAndSecretChangeDetectionStrategy',
      config.configMapAndSecretChangeDetectionStrategy,
      ['Get', 'Cache', 'Watch'],
    ],
    ['logging.format', config.logging.format, ['text', 'json']],
    // Only hidden metrics of the previous minor version can be shown again.
    ['showHiddenMetricsForVersion', config.showHiddenMetricsForVersion, ['', '1.33']],
    ['tlsMinVersion', config.tlsMinVersion, ['', 'VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13']],
  ];
  return words.flatMap(([field, value, allowed]) => oneOf(field, value, allowed));
}

const contentTypes: readonly string[] = ['application/vnd.kubernetes.protobuf', 'application/json'];

/** Unknown words with which the Go kubelet starts nevertheless. */
export function oddWords({ config }: ValidationInput): readonly Fault[] {
  const { contentType, topologyManagerPolicy, topologyManagerPolicyOptions: options } = config;
  const idle = topologyManagerPolicy === 'none' ? Object.keys(options) : [];
  return [
    ...oneOf('contentType', contentType, contentTypes),
    ...idle.flatMap((option) => oneOf(`topologyManagerPolicyOptions.${option}`, option, topologyOptions)),
  ].map(({ field, message }) => ({ field, message: `has no effect: ${message}` }));
}

const oneMilli = Duration.parse('1ms');
const oneSecond = Duration.parse('1s');
const threeSeconds = Duration.parse('3s');
const usualQuotaPeriod = Duration.parse('100ms');

export function checkDurations({ config, gates }: ValidationInput): readonly Fault[] {
  const { syncFrequency, containerLogMonitorInterval: monitor, cpuCFSQuotaPeriod: period } = config;
  const custom = gates.enabled('CustomCPUCFSQuotaPeriod');
  return [
    ...check(syncFrequency.nanos <= 0n, 'syncFrequency', syncFrequency, 'must be more than 0s'),
    ...check(monitor.compare(threeSeconds) < 0, 'containerLogMonitorInterval', monitor, 'must be 3s or more'),
    ...check(
      custom && (period.compare(oneMilli) < 0 || period.compare(oneSecond) > 0),
      'cpuCFSQuotaPeriod',
      period,
      'must be from 1ms to 1s',
    ),
    ...check(
      !custom && period.compare(usualQuotaPeriod) !== 0,
      'cpuCFSQuotaPeriod',
      period,
      'must stay 100ms unless the feature gate CustomCPUCFSQuotaPeriod is on',
    ),
  ];
}
