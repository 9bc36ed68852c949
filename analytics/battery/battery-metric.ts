/** Which gauges are of a battery: those whose name begins with the word, in a unit of voltage or charge. */

export interface BatteryMetric {
  readonly kind: 'voltage' | 'charge'
  /** Times the value gives volts or percent. */
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
