import type { Registry } from './registry.ts';

/** What a page says about itself: how many metrics there are, and that none is kept from its readers. */
export function registryMetrics(registry: Registry): void {
  const stability = 'BETA';
  registry.counter({ name: 'disabled_metrics_total', help: 'Metrics that are switched off.', stability });
  registry.counter({ name: 'hidden_metrics_total', help: 'Metrics that are not shown any more.', stability });
  registry.observed(
    {
      name: 'registered_metrics_total',
      help: 'Metrics there are, by how much users may rely on them.',
      stability,
      type: 'counter',
      labels: ['stability_level', 'deprecated_version'],
    },
    () => {
      const counts = new Map<string, number>();
      for (const { stability: level } of registry.families()) {
        // Those of every program have none.
        if (level !== undefined) counts.set(level, (counts.get(level) ?? 0) + 1);
      }
      return [...counts].map(([level, value]) => ({
        labels: { stability_level: level, deprecated_version: '' },
        value,
      }));
    },
  );
}
