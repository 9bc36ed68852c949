/** The readings of the devices before now, as a file of CSV for the import. */

import type { Readings } from './readings.ts'
import type { Station } from './stations.ts'

export interface PastStation extends Pick<Station, 'name' | 'stepMs'> {
  readings: Readings
  /** Behind the one moment and up to the other. */
  afterMs: number
  untilMs: number
}

export interface History {
  text: string
  /** The number of lines without the header. */
  count: number
}

const columns = [
  'temperature',
  'humidity',
  'pressure',
  'battery_voltage',
  'battery_percentage',
  'co2',
  'wind_speed',
  'wind_direction',
]

/** Oldest first, so that QuestDB appends rows. */
export function historyCsv(stations: readonly PastStation[]): History {
  const stepMs = Math.min(...stations.map(station => station.stepMs))
  const firstMs = Math.min(...stations.map(({ afterMs }) => afterMs))
  const lastMs = Math.max(...stations.map(({ untilMs }) => untilMs))
  let text = `timestamp,device,${columns.join()}\n`
  let count = 0
  for (let timeMs = Math.ceil(firstMs / stepMs) * stepMs; timeMs <= lastMs; timeMs += stepMs) {
    const time = new Date(timeMs).toISOString()
    for (const station of stations) {
      if (timeMs % station.stepMs !== 0 || timeMs <= station.afterMs || timeMs > station.untilMs) continue
      const values = station.readings(timeMs)
      text += `${time},${station.name},${columns.map(column => values[column] ?? '').join()}\n`
      count++
    }
  }
  return { text, count }
}
