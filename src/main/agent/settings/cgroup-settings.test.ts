import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSettings, type Settings } from '../../../config/index.ts';
import { readMachineInfo } from '../../../host/index.ts';
import { cgroupSettings, configuredReservations } from './cgroup-settings.ts';
import { runtimeSettings } from './runtime-settings.ts';

function settingsOf(...argv: readonly string[]): Settings {
  const result = loadSettings({ argv, version: '1', cwd: '/', readFile: assert.fail, listDir: assert.fail });
  assert.equal(result.kind, 'run');
  return result.kind === 'run' ? result.settings : assert.fail();
}

test('reserves come from the configuration', () => {
  const settings = settingsOf('--kube-reserved=cpu=1,memory=1Gi', '--system-reserved=pid=9', '--reserved-cpus=0-1');
  assert.deepEqual(configuredReservations(settings), { kube: { memory: '1Gi' }, system: { cpu: '2', pid: '9' } });
});

test('the configuration of cgroups is passed on', () => {
  const flags = ['--fail-cgroupv1', '--qos-reserved=memory=50%', '--kubelet-cgroups=/agent', '--pod-max-pids=77'];
  const settings = settingsOf(...flags, '--feature-gates=MemoryQoS=true,QOSReserved=true', '--cpu-cfs-quota=false');
  const machine = { ...readMachineInfo(), cgroupVersion: 2, hugePageSizes: ['2MB'], cpuList: '0-7' } as const;
  const kernel = {
    architecture: 'amd64',
    kernelVersion: '6.1',
    hasAppArmor: false,
    hasSwapController: true,
    hasSelinux: false,
  };
  const ours = runtimeSettings(settings, { nodeName: 'n', cgroupDriver: 'systemd' }, { machine, kernel });
  const { capacity, reserved, evictionHard, ...rest } = cgroupSettings(settings, ours, machine);
  assert.equal(capacity['memory'], String(machine.memoryBytes));
  assert.deepEqual(reserved, configuredReservations(settings));
  assert.deepEqual(evictionHard, {}, 'a command line without a file sets none');
  assert.deepEqual(rest, {
    cgroupsPerQos: true,
    cgroupDriver: 'systemd',
    cgroupRoot: '/',
    cgroupVersion: 2,
    failCgroupV1: true,
    singleProcessOomKill: undefined,
    swapBehavior: '',
    cpus: '0-7',
    kubeletCgroups: '/agent',
    enforceNodeAllocatable: ['pods'],
    systemReservedCgroup: '',
    kubeReservedCgroup: '',
    qosReservedMemory: 50n,
    memoryQosGate: true,
    hugePageSizes: ['2MB'],
    cpuCfsQuota: false,
    cpuCfsQuotaPeriodMs: 100,
    podPidsLimit: 77,
  });
});
