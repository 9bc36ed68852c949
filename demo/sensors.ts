/** Live sensors, as firmware would do it: a reading every few seconds by `PUT /api/log`, with retries. */

import { type DeliveryOptions, type DeliveryRequest, deliver, waited } from './delivery.ts'
import type { Measurement } from './history.ts'
import type { ModelledStation } from './stations.ts'
import { measured, type Random } from './weather.ts'

export interface Sensor {
  name: string
  password: string
  battery: boolean
  cellMs?: number | undefined
  pauses?: ModelledStation['pauses'] | undefined
  /** The air at the sensor. */
  air(timeMs: number): Measurement
  random: Random
}

export interface SensorOptions extends DeliveryOptions {
  now: () => number
  intervalMs: number
}

/** Runs until the signal; a sensor that the service rejects permanently stops on its own. */
export async function runSensor(sensor: Sensor, options: SensorOptions): Promise<void> {
  const { signal, intervalMs, now } = options
  // They were not all switched on at the same moment.
  let nextMs = now() + sensor.random() * intervalMs
  while (await waited(nextMs - now(), signal)) {
    const isDelivered =
      isPausing(sensor, now()) || (await deliver(requestOf(sensor, takeReading(sensor, now())), options)) !== undefined
    if (!isDelivered) return
    nextMs = Math.max(nextMs + intervalMs, now())
  }
}

function takeReading(sensor: Sensor, timeMs: number): Record<string, unknown> {
  const reading = { device: sensor.name, ...measured(sensor.air(timeMs), sensor.random) }
  if (!sensor.battery) return reading
  // Charged anew once it is empty.
  const { cellMs = monthMs } = sensor
  const charge = 1 - (timeMs % cellMs) / cellMs
  const voltage = Number((3.3 + 0.85 * charge + 0.01 * sensor.random()).toFixed(3))
  return { ...reading, 'battery voltage': voltage, 'battery percentage': Math.round(100 * charge) }
}

const monthMs = 30 * 86_400_000

function isPausing({ pauses }: Sensor, timeMs: number): boolean {
  return pauses !== undefined && timeMs % pauses.everyMs >= pauses.everyMs - pauses.lastMs
}

function requestOf({ name, password }: Sensor, reading: object): DeliveryRequest {
  return { name, method: 'PUT', path: '/api/log', user: name, password, body: JSON.stringify(reading) }
}
