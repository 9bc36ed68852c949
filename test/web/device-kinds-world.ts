/** Devices with metrics of each kind, and five days of what they measure. */

import type { Service } from '../support/service.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

type Values = Readonly<Record<string, number | null>>
type Readings = readonly (readonly [timeMs: number, values: Values])[]

export interface KindsWorld {
  /** When the readings end: a full ten minutes. */
  readonly endMs: number
  /** Passwords by device. */
  readonly passwords: ReadonlyMap<string, string>
}

/** The meter starts again from 0 so long before the end. */
const resetMsBefore = 20 * hourMs
/** The contact was closed so long before the end, after it had been open for half an hour. */
const closedMsBefore = 47 * minuteMs
/** Of the mode nothing is known for three hours up to here. */
const silentUntilMsBefore = 6 * hourMs

const everyMs = 10 * minuteMs

export async function addKinds(service: Service, nowMs: number): Promise<KindsWorld> {
  const endMs = Math.floor(nowMs / everyMs) * everyMs
  const times = Array.from({ length: (5 * dayMs) / everyMs }, (_, step) => endMs - 5 * dayMs + (step + 1) * everyMs)
  const named = ['co2', 'wind_direction', 'wind_speed', 'rain', 'illuminance', 'power', 'energy', 'door']
  for (const name of named) await added(service, { name })
  await added(service, { name: 'mode', title: 'Heating mode', kind: 'state', decimals: 0 })
  const passwords = new Map<string, string>()
  const add = async (name: string, readings: Readings) => {
    const metrics = Object.keys(readings[0]?.[1] ?? {})
    passwords.set(name, await service.addDevice(name, { metrics }))
    await service.import(csvOf(name, metrics, readings))
  }
  await add(
    'station',
    times.map(atMs => [atMs, weather(atMs, endMs)]),
  )
  await add(
    'meter',
    times.map(atMs => [atMs, meter(atMs, endMs)]),
  )
  await add('contact', contact(endMs))
  await add('heating', heating(times, endMs))
  await add(
    'ds18b20',
    times.map(atMs => [atMs, { temperature: 4 + wave(atMs) }]),
  )
  await add(
    'scd41',
    times.map(atMs => [atMs, { co2: 700 + 250 * wave(atMs), temperature: 21 + wave(atMs), humidity: 45 }]),
  )
  return { endMs, passwords }
}

/** A device with as many metrics as one may have, two days of hours. */
export async function addMany(service: Service, endMs: number): Promise<void> {
  const names = Array.from({ length: 64 }, (_, place) => `probe_${String(place + 1).padStart(2, '0')}`)
  for (const name of names) await added(service, { name, unit: 'Cel', decimals: 1 })
  const times = Array.from({ length: 48 }, (_, hour) => endMs - (47 - hour) * hourMs)
  await service.addDevice('many', { metrics: names })
  const readings: Readings = times.map(atMs => [
    atMs,
    Object.fromEntries(names.map((name, place) => [name, place + wave(atMs)])),
  ])
  await service.import(csvOf('many', names, readings))
}

async function added(service: Service, metric: object): Promise<void> {
  const { status, body } = await service.admin('POST', '/metrics', metric)
  if (status !== 201) throw new Error(`no metric was added: ${status} ${JSON.stringify(body)}`)
}

function csvOf(device: string, metrics: readonly string[], readings: Readings): string {
  const rows = readings.map(([atMs, values]) =>
    [new Date(atMs).toISOString(), device, ...metrics.map(name => values[name] ?? '')].join(','),
  )
  return `timestamp,device,${metrics.join(',')}\n${rows.join('\n')}\n`
}

const wave = (atMs: number) => Math.sin((2 * Math.PI * atMs) / dayMs) + Math.sin(atMs / 1e6) / 8

/** Wind from about north, to both sides of it, and showers of half a millimetre in ten minutes. */
function weather(atMs: number, endMs: number): Values {
  const hour = ((endMs - atMs) / hourMs) % 24
  return {
    temperature: 11 + 5 * wave(atMs),
    humidity: 70 - 15 * wave(atMs),
    pressure: 1012 + wave(atMs / 3),
    wind_direction: Math.round(360 + 25 * Math.sin(atMs / 3e6) + 12 * wave(atMs)) % 360,
    wind_speed: Math.max(0, 3 + 3 * Math.sin(atMs / 7e6)),
    rain: (hour >= 3 && hour < 5) || (hour >= 16 && hour < 16.5) ? 0.5 : 0,
    illuminance: Math.max(0, 40_000 * wave(atMs)),
  }
}

/** A hundred watts and a kettle now and then; a total in kWh. */
function meter(atMs: number, endMs: number): Values {
  const sinceMs = atMs <= endMs - resetMsBefore ? atMs - (endMs - 5 * dayMs) : atMs - (endMs - resetMsBefore)
  const base = atMs <= endMs - resetMsBefore ? 1200 : 0
  return { power: atMs % (4 * hourMs) < hourMs ? 900 : 110, energy: base + (0.06 * sinceMs) / everyMs }
}

/** Sends its changes alone: open some three times a day, for half an hour at last. */
function contact(endMs: number): Readings {
  const readings: [number, Values][] = []
  for (let event = 14; event >= 0; event--) {
    const closedMs = endMs - closedMsBefore - event * 8.37 * hourMs - (event % 3) * 41 * minuteMs
    const openMs = (30 + ((event * 17) % 23) * 4) * minuteMs
    readings.push([closedMs - openMs, { door: 1 }], [closedMs, { door: 0 }])
  }
  return readings
}

/** A mode that comes with each reading, without three hours of today. */
function heating(times: readonly number[], endMs: number): Readings {
  const isSilent = (atMs: number) =>
    atMs > endMs - silentUntilMsBefore - 3 * hourMs && atMs < endMs - silentUntilMsBefore
  return times
    .filter(atMs => !isSilent(atMs))
    .map(atMs => [atMs, { mode: Math.floor(atMs / (2.5 * hourMs)) % 4, temperature: 20 + wave(atMs) }])
}
