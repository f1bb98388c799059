import { Masked } from '../../../base/masked.ts';
import type { Settings } from '../../../config/index.ts';
import type { StaticSources } from '../../../pods/create-sources.ts';

/** The sources of static pods, and what such pods may contain. */
export function sourceSettings({ config, flags, featureGates }: Settings, nodeName: string): StaticSources {
  const { staticPodPath: path, staticPodURL: url } = config;
  return {
    rules: {
      nodeName,
      preventApiReferences: featureGates.enabled('PreventStaticPodAPIReferences'),
      rules: { containerRestartRules: featureGates.enabled('ContainerRestartRules') },
    },
    file:
      path === ''
        ? undefined
        : { path, checkFrequencyMs: config.fileCheckFrequency.toMillis(), allowObjects: flags.kubeconfig === '' },
    http:
      url === ''
        ? undefined
        : {
            url,
            headers: new Masked(config.staticPodURLHeader ?? {}),
            checkFrequencyMs: config.httpCheckFrequency.toMillis(),
          },
  };
}
