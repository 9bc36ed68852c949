/** Reads readings of a range. Rows name no units: a header names a station's. */

import type { RangeReadings } from '../../../api/read/readings-shape.ts'
import { type Outcome, type ReadOptions, readJson } from '../../client/read-json.ts'

export interface ReadReadings {
  readonly rows: RangeReadings
  /** Codes by metric; empty for a device, whose units are fixed. */
  readonly units: Readonly<Record<string, string>>
}

export async function readReadings(url: string, options: ReadOptions = {}): Promise<Outcome<ReadReadings>> {
  const { request = fetch } = options
  let named: string | null = null
  const outcome = await readJson<RangeReadings>(url, {
    ...options,
    async request(...asked) {
      const response = await request(...asked)
      named = response.headers.get('point-units')
      return response
    },
  })
  return outcome.kind === 'answer'
    ? { ...outcome, value: { rows: outcome.value, units: unitsIn(named ?? '') } }
    : outcome
}

/** `no2=ppb, pm25=ugm3` */
function unitsIn(header: string): Record<string, string> {
  const pairs = header.split(', ').map(pair => pair.split('='))
  return Object.fromEntries(pairs.flatMap(([name, code]) => (name && code ? [[name, code]] : [])))
}
