/** The inputs of insights besides readings, as text that is quick to post to a worker and that a worker reads once. */

import type { CellType } from '../analytics/battery/curves.ts'
import type { MetricSettings } from '../analytics/quality/quality-limits.ts'
import type { Metric } from '../store/tables.ts'
import type { QueryDevice } from './fleet.ts'
import type { MetricDescription } from './shapes/kinds.ts'

export interface InsightsDevice extends QueryDevice {
  readonly tags: readonly string[]
  readonly battery_type: CellType | null
  /** Number of cells in series; null for one. */
  readonly battery_cells: number | null
  /** The same limits as in the analyses of a device. */
  readonly quality_limits: Readonly<Partial<Record<Metric, MetricSettings | undefined>>> | null
}

export interface InsightsEntry {
  readonly symbol: string
  readonly name: string
  readonly tags: readonly string[]
  readonly batteryType: CellType | null
  readonly batteryCells: number | null
  readonly limits: InsightsDevice['quality_limits']
}

/** A gauge beside the five that a device has sent. */
interface InsightsGauge {
  readonly metric: DescribedGauge
  /** Number in the table of measurements. */
  readonly series: number
}

export interface DescribedGauge extends Pick<MetricDescription, 'title' | 'unit' | 'decimals'> {
  readonly name: string
  readonly quality: MetricSettings | null
}

/** A device whose readings are overdue. */
interface Silence {
  readonly state: 'stale' | 'offline'
  readonly lastMs: number
}

/** Sources of facts about a device, by its number in the registry. */
export interface InsightsKnown {
  gaugesOf(deviceNumber: number): readonly InsightsGauge[]
  /** Undefined for a device that reports as expected, and while nothing is known about it. */
  silenceOf(deviceNumber: number): Silence | undefined
}

/** The same for a fleet, as a worker gets it. Places are indexes into the devices. */
export interface FleetKnown {
  readonly gauges: readonly FleetGauge[]
  /** Number of gauges beyond the limit, which are not read. */
  readonly gaugesLeftOut: number
  readonly silent: readonly (Silence & { readonly place: number })[]
}

/** A metric, and the devices that have it. */
export interface FleetGauge {
  readonly metric: DescribedGauge
  /** Indexes of devices, and their series, side by side. */
  readonly places: readonly number[]
  readonly series: readonly number[]
}

/** No gauges at all where there are more than `seriesMax`: the first devices alone would not represent the fleet. */
export function knownOfFleet(
  devices: readonly InsightsDevice[],
  { gaugesOf, silenceOf }: InsightsKnown,
  seriesMax: number,
): FleetKnown {
  const gauges = new Map<string, FleetGauge & { readonly places: number[]; readonly series: number[] }>()
  const silent: (Silence & { readonly place: number })[] = []
  let count = 0
  for (const [place, { number }] of devices.entries()) {
    const silence = silenceOf(number)
    if (silence !== undefined) silent.push({ ...silence, place })
    for (const { metric, series } of gaugesOf(number)) {
      if (++count > seriesMax) continue
      const known = gauges.get(metric.name) ?? { metric, places: [], series: [] }
      known.places.push(place)
      known.series.push(series)
      gauges.set(metric.name, known)
    }
  }
  const isTooMany = count > seriesMax
  return { gauges: isTooMany ? [] : [...gauges.values()], gaugesLeftOut: isTooMany ? count : 0, silent }
}

type Row = [
  symbol: string,
  name: string,
  tags: readonly string[],
  type: CellType | null,
  cells: number | null,
  limits: InsightsDevice['quality_limits'],
]

export function encodeInsightsFleet(devices: readonly InsightsDevice[]): string {
  const rows = devices.map(({ symbol, name, tags, battery_type, battery_cells, quality_limits }): Row => {
    return [symbol, name, tags, battery_type, battery_cells, quality_limits]
  })
  return JSON.stringify(rows)
}

/** Caches the last one, like `createFleetReader`. */
export function createInsightsFleetReader(): (text: string) => readonly InsightsEntry[] {
  let lastText = ''
  let last: readonly InsightsEntry[] = []
  return text => {
    if (text !== lastText) {
      const rows: Row[] = JSON.parse(text)
      last = rows.map(([symbol, name, tags, batteryType, batteryCells, limits]) => {
        return { symbol, name, tags, batteryType, batteryCells, limits }
      })
      lastText = text
    }
    return last
  }
}
