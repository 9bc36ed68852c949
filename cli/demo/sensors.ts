/** Live sensors, as firmware would do it: a reading every few seconds by `PUT /api/log`, with retries. */

import { type DeliveryOptions, type DeliveryRequest, deliver, waited } from './delivery.ts'
import type { Random } from './noise.ts'
import type { Readings } from './readings.ts'

/** The history of a device that falls silent ends so long before a start. */
export const silentBeforeMs = 130 * 60_000

interface Pauses {
  /** It is silent until then. */
  untilMs: number
  /** In the last `lastMs` of every `everyMs`, the sensor is silent. */
  everyMs: number
  lastMs: number
}

export interface Sensor {
  name: string
  password: string
  readings: Readings
  pauses?: Pauses | undefined
  random: Random
}

export interface SensorOptions extends DeliveryOptions {
  now: () => number
  intervalMs: number
}

/** Runs until the signal. A sensor that the service rejects permanently stops on its own. */
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

function takeReading({ name, readings }: Sensor, timeMs: number): Record<string, unknown> {
  const { battery_voltage, battery_percentage, ...values } = readings(timeMs)
  const reading = { device: name, ...values }
  if (battery_voltage === undefined) return reading
  return { ...reading, 'battery voltage': battery_voltage, 'battery percentage': battery_percentage }
}

function isPausing({ pauses }: Sensor, timeMs: number): boolean {
  if (pauses === undefined) return false
  const { untilMs, everyMs, lastMs } = pauses
  return timeMs < untilMs || timeMs % everyMs >= everyMs - lastMs
}

function requestOf({ name, password }: Sensor, reading: object): DeliveryRequest {
  return { name, method: 'PUT', path: '/api/log', user: name, password, body: JSON.stringify(reading) }
}
