import { Gauge, type GaugeConfiguration } from 'prom-client';

/** A gauge whose value is computed when it is read. */
export function liveGauge(configuration: GaugeConfiguration<never>, read: () => number): void {
  new Gauge({
    ...configuration,
    collect() {
      this.set(read());
    },
  });
}
