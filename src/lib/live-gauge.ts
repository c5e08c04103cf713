import { Gauge, type GaugeConfiguration } from 'prom-client';

/** A gauge whose value is read when somebody asks. */
export function liveGauge(configuration: GaugeConfiguration<never>, read: () => number): void {
  new Gauge({
    ...configuration,
    collect() {
      this.set(read());
    },
  });
}
