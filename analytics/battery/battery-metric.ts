/** Recognizes gauges of batteries: their names begin with `battery`, and their units measure voltage or charge. */

export interface BatteryMetric {
  readonly kind: 'voltage' | 'charge'
  /** A value times this is in volts or percent. */
  readonly scale: number
}

const kinds: ReadonlyMap<string, BatteryMetric> = new Map([
  ['V', { kind: 'voltage', scale: 1 }],
  ['mV', { kind: 'voltage', scale: 0.001 }],
  ['%', { kind: 'charge', scale: 1 }],
])

export function batteryMetricOf(name: string, unit: string | null): BatteryMetric | undefined {
  return name.startsWith('battery') && unit !== null ? kinds.get(unit) : undefined
}
