import type { InstanceNames } from './names.ts';

/** The pod network: a bridge of our own, addresses stored inside our root, host ports by portmap. */
export function cniConfig(names: InstanceNames, subnet: string): string {
  const config = {
    cniVersion: '0.4.0',
    name: names.network,
    plugins: [
      {
        type: 'bridge',
        bridge: names.bridge,
        isGateway: true,
        ipMasq: true,
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          dataDir: names.ipamDir,
          ranges: [[{ subnet }]],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
