/** What insights know of the devices besides their readings, as text that is quick to post to a worker and that a worker reads once. */

import type { CellType } from '../analytics/battery/curves.ts'
import type { QueryDevice } from './fleet.ts'

export interface InsightsDevice extends QueryDevice {
  readonly tags: readonly string[]
  readonly battery_type: CellType | null
  /** In series; null for one. */
  readonly battery_cells: number | null
}

export interface InsightsEntry {
  readonly symbol: string
  readonly name: string
  readonly tags: readonly string[]
  readonly batteryType: CellType | null
  readonly batteryCells: number | null
}

type Row = [symbol: string, name: string, tags: readonly string[], type: CellType | null, cells: number | null]

export function encodeInsightsFleet(devices: readonly InsightsDevice[]): string {
  const rows = devices.map(({ symbol, name, tags, battery_type, battery_cells }): Row => {
    return [symbol, name, tags, battery_type, battery_cells]
  })
  return JSON.stringify(rows)
}

/** The last one is cached, as that of `createFleetReader`. */
export function createInsightsFleetReader(): (text: string) => readonly InsightsEntry[] {
  let lastText = ''
  let last: readonly InsightsEntry[] = []
  return text => {
    if (text !== lastText) {
      const rows: Row[] = JSON.parse(text)
      last = rows.map(([symbol, name, tags, batteryType, batteryCells]) => {
        return { symbol, name, tags, batteryType, batteryCells }
      })
      lastText = text
    }
    return last
  }
}
