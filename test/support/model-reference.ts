/**
 * What the table must show at the end: for each device and time the value that was acknowledged last. A value whose fate
 * was left open may be there or not; one that was refused must not. A time that we give is known here to a second only: it
 * follows the clock. Such a reading has its value for a key, and must stand in one row.
 */

import type { Outcome } from '../../ingest/journal/outcome.ts'

/** A reading; its value is its number in the history. */
export interface Handed {
  device: string
  timestampMs: number | undefined
  value: number
  /** What the clock said. */
  atUs: number
}

interface Row {
  device: string
  timeUs: number
  values: Record<string, number>
}

export interface Reference {
  /** In the order of the journal; its group holds `position`. */
  hand(reading: Handed, answer: Outcome, position: number): void
  /** All differences between the table and what was promised. */
  compare(table: Map<string, Row>): string[]
  /** Keys of acknowledged readings from one position to another that the table does not show yet. */
  missing(table: Map<string, Row>, from: number, to: number): string[]
}

const stampToleranceUs = 1_001_000

const keyOf = ({ device, timestampMs, value }: Omit<Handed, 'atUs'>) => `${device} ${timestampMs ?? `#${value}`}`

export function createReference(): Reference {
  /** The values that each key may show; undefined stands for none. */
  const allowed = new Map<string, Set<number | undefined>>()
  const stored: { key: string; value: number; position: number }[] = []
  /** What the clock said when each value came. */
  const clockUs = new Map<number, number>()

  return {
    hand(reading, answer, position) {
      const key = keyOf(reading)
      clockUs.set(reading.value, reading.atUs)
      const values = allowed.get(key) ?? new Set([undefined])
      if (answer === 'stored') values.clear()
      if (answer === 'stored' || answer === 'unknown') values.add(reading.value)
      allowed.set(key, values)
      if (answer === 'stored') stored.push({ key, value: reading.value, position })
    },
    compare(table) {
      const shown = readTable(table)
      const wrong = [...allowed].filter(([key, values]) => !values.has(shown.get(key)))
      const phantoms = [...shown.keys()].filter(key => !allowed.has(key))
      return [
        ...wrong.map(([key, values]) => `${key} shows ${shown.get(key)} and not ${[...values].join(' or ')}`),
        ...phantoms.map(key => `${key} was never handed over`),
        ...(shown.size < table.size ? ['a reading stands in two rows'] : []),
        ...[...table.values()].flatMap(row => strayStamp(row, clockUs)),
      ]
    },
    missing(table, from, to) {
      const shown = readTable(table)
      const inside = stored.filter(({ position }) => position >= from && position < to)
      // Values count up, so a later one with the same key is the greater.
      return inside.filter(({ key, value }) => (shown.get(key) ?? -1) < value).map(({ key }) => key)
    },
  }
}

/** A time that we gave, and that is not what the clock said. */
function strayStamp({ timeUs, values }: Row, clockUs: Map<number, number>): string[] {
  const value = values['temperature'] ?? Number.NaN
  const byUs = timeUs - (clockUs.get(value) ?? Number.NaN)
  return timeUs % 1000 === 0 || Math.abs(byUs) <= stampToleranceUs
    ? []
    : [`${value} is stamped ${byUs} µs from the clock`]
}

/** Only clients' times are whole milliseconds. */
function readTable(table: Map<string, Row>): Map<string, number> {
  return new Map(
    [...table.values()].map(({ device, timeUs, values }) => {
      const value = values['temperature'] ?? Number.NaN
      return [keyOf({ device, timestampMs: timeUs % 1000 === 0 ? timeUs / 1000 : undefined, value }), value]
    }),
  )
}
