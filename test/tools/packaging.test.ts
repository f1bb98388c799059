import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

/** The settings of a unit file, in order. */
function settingsOf(path: string): readonly (readonly [name: string, value: string])[] {
  const lines = readFileSync(`packaging/systemd/${path}`, 'utf8').split('\n');
  return lines
    .filter((line) => line.includes('=') && !line.startsWith('#'))
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const);
}

test('the drop-in for kubeadm gives the program what the Go kubelet’s gives it', () => {
  assert.deepEqual(settingsOf('kubelet.service.d/10-kubeadm.conf'), [
    [
      'Environment',
      '"KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"',
    ],
    ['Environment', '"KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"'],
    ['EnvironmentFile', '-/var/lib/kubelet/kubeadm-flags.env'],
    ['EnvironmentFile', '-/etc/default/kubelet'],
    ['EnvironmentFile', '-/etc/sysconfig/kubelet'],
    ['ExecStart', ''],
    [
      'ExecStart',
      '/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS',
    ],
  ]);
});

test('the unit starts the same program, again whenever it ends', () => {
  const settings = new Map(settingsOf('kubelet.service'));
  const wanted = {
    Description: 'kubelet: The Kubernetes Node Agent',
    Wants: 'network-online.target',
    StartLimitIntervalSec: '0',
    Type: 'notify',
    ExecStart: '/usr/bin/kubelet',
    Restart: 'always',
    RestartSec: '10',
    WatchdogSec: '60s',
    WantedBy: 'multi-user.target',
  };
  for (const [name, value] of Object.entries(wanted)) assert.equal(settings.get(name), value, name);
});
