/** Live sensors, as firmware would do it: a reading every few seconds by `PUT /api/log`, with retries. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Measurement } from './history.ts'
import { measured, type Random } from './weather.ts'

export interface Sensor {
  name: string
  password: string
  battery: boolean
  /** The air at the sensor. */
  air(timeMs: number): Measurement
  random: Random
}

export interface SensorOptions {
  url: string
  now: () => number
  intervalMs: number
  signal: AbortSignal
  /** Once for each fault that lasts, not for each attempt. */
  onFault: (name: string, fault: string) => void
  retryDelayMs?: number
}

const retryDelayMsMax = 30_000
const answerMsMax = 10_000

/** Runs until the signal; a sensor that the service rejects permanently stops on its own. */
export async function runSensor(sensor: Sensor, options: SensorOptions): Promise<void> {
  const { signal, intervalMs, now } = options
  // They were not all switched on at the same moment.
  let nextMs = now() + sensor.random() * intervalMs
  while (await waited(nextMs - now(), signal)) {
    if (!(await deliver(sensor, takeReading(sensor, now()), options))) return
    nextMs = Math.max(nextMs + intervalMs, now())
  }
}

function takeReading(sensor: Sensor, timeMs: number): Record<string, unknown> {
  const reading = { device: sensor.name, ...measured(sensor.air(timeMs), sensor.random) }
  if (!sensor.battery) return reading
  // A cell that lasts a month, charged anew.
  const charge = 1 - (timeMs % monthMs) / monthMs
  const voltage = Number((3.3 + 0.85 * charge + 0.01 * sensor.random()).toFixed(3))
  return { ...reading, 'battery voltage': voltage, 'battery percentage': Math.round(100 * charge) }
}

const monthMs = 30 * 86_400_000

/** Sends one reading with retries; false when the service rejects it permanently. */
async function deliver(sensor: Sensor, reading: object, options: SensorOptions): Promise<boolean> {
  let delayMs = options.retryDelayMs ?? 1000
  for (let attempt = 1; ; attempt++) {
    const outcome = await send(sensor, reading, options)
    if (outcome.kind === 'stored') return true
    if (options.signal.aborted) return false
    if (attempt === 1 || outcome.kind === 'refused') options.onFault(sensor.name, outcome.fault)
    if (outcome.kind === 'refused') return false
    if (!(await waited(Math.max(delayMs, outcome.retryAfterMs), options.signal))) return false
    delayMs = Math.min(retryDelayMsMax, delayMs * 2)
  }
}

type Outcome =
  | { kind: 'stored' }
  | { kind: 'later'; fault: string; retryAfterMs: number }
  | { kind: 'refused'; fault: string }

async function send({ name, password }: Sensor, reading: object, options: SensorOptions): Promise<Outcome> {
  const authorization = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`
  try {
    const response = await fetch(`${options.url}/api/log`, {
      method: 'PUT',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(reading),
      signal: AbortSignal.any([options.signal, AbortSignal.timeout(answerMsMax)]),
    })
    // Read to its end, so that the connection can be used again.
    const text = await response.text()
    if (response.ok) return { kind: 'stored' }
    const fault = `${response.status} ${text}`
    const passes = response.status === 429 || response.status >= 500
    if (!passes) return { kind: 'refused', fault }
    const seconds = Number(response.headers.get('retry-after') ?? 0)
    return { kind: 'later', fault, retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : 0 }
  } catch (error) {
    return { kind: 'later', fault: error instanceof Error ? error.message : String(error), retryAfterMs: 0 }
  }
}

/** False when the signal came first. */
async function waited(delayMs: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(Math.max(0, delayMs), undefined, { signal })
    return true
  } catch {
    return false
  }
}
