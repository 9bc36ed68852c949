/**
 * The expected table: the last acknowledged value for each device and time. Unknown outcomes may be there or not,
 * refused ones must not. Our own times are known to a second only, so such a reading has its value for a key, and must
 * stand in one row. The table of custom values must show exactly those of the same readings.
 */

import type { Outcome } from '../../../ingest/journal/outcome.ts'

/** A reading. Its value is its number in the history. */
export interface Handed {
  device: string
  timestampMs: number | undefined
  value: number
  atUs: number
  /** Each of these custom series has the value of the reading. */
  series: readonly number[]
}

interface Row {
  device: string
  timeUs: number
  values: Record<string, number>
}

type Table = ReadonlyMap<string, Row>

export interface Reference {
  /** Values of this custom series are shown nowhere any more. */
  erase(series: number): void
  /** Adds a reading in the order of the journal. Its group holds `position`. */
  hand(reading: Handed, answer: Outcome, position: number): void
  /** Returns all differences between the tables and the acknowledged readings. */
  compare(table: Table, custom: Table): string[]
  /** Keys of acknowledged readings from one position to another that the tables do not show yet. */
  missing(table: Table, custom: Table, range: readonly [from: number, to: number]): string[]
}

const stampToleranceUs = 1_001_000

const keyOf = ({ device, timestampMs, value }: Pick<Handed, 'device' | 'timestampMs' | 'value'>) =>
  `${device} ${timestampMs ?? `#${value}`}`

export function createReference(): Reference {
  /** The values that each key may show. undefined stands for a missing row. */
  const allowed = new Map<string, Set<number | undefined>>()
  const stored: { key: string; value: number; position: number }[] = []
  /** The clock at the arrival of each value. */
  const clockUs = new Map<number, number>()
  /** The custom series of each value. */
  const given = new Map<number, readonly number[]>()
  const erased = new Set<number>()
  const seriesOf = (value: number) => given.get(value)?.filter(series => !erased.has(series)) ?? []

  /** Rows of the table of custom values that should be there and are not, and the other way round. */
  function compareCustom(table: Table, custom: Table): string[] {
    const expected = new Map<string, number>()
    for (const { timeUs, values } of table.values()) {
      const value = values['temperature'] ?? Number.NaN
      for (const series of seriesOf(value)) expected.set(`series=${series} ${timeUs}`, value)
    }
    const shown = new Map(
      [...custom].flatMap(([key, { values }]) => ('value' in values ? [[key, values['value']]] : [])),
    )
    const wrong = [...expected].filter(([key, value]) => shown.get(key) !== value)
    const phantoms = [...shown].filter(([key]) => !expected.has(key))
    return [
      ...wrong.map(([key, value]) => `${key} shows ${shown.get(key)} and not ${value}`),
      ...phantoms.map(([key, value]) => `${key} shows ${value}, and its reading has none`),
    ]
  }

  return {
    erase: series => void erased.add(series),
    hand(reading, answer, position) {
      const key = keyOf(reading)
      clockUs.set(reading.value, reading.atUs)
      given.set(reading.value, reading.series)
      const values = allowed.get(key) ?? new Set([undefined])
      if (answer === 'stored') values.clear()
      if (answer === 'stored' || answer === 'unknown') values.add(reading.value)
      allowed.set(key, values)
      if (answer === 'stored') stored.push({ key, value: reading.value, position })
    },
    compare(table, custom) {
      const shown = readTable(table)
      const wrong = [...allowed].filter(([key, values]) => !values.has(shown.get(key)))
      const phantoms = [...shown.keys()].filter(key => !allowed.has(key))
      return [
        ...wrong.map(([key, values]) => `${key} shows ${shown.get(key)} and not ${[...values].join(' or ')}`),
        ...phantoms.map(key => `${key} was never handed over`),
        ...(shown.size < table.size ? ['a reading stands in two rows'] : []),
        ...[...table.values()].flatMap(row => strayStamp(row, clockUs)),
        ...compareCustom(table, custom),
      ]
    },
    missing(table, custom, [from, to]) {
      const shown = readTable(table)
      const timesUs = new Map([...table.values()].map(({ timeUs, values }) => [values['temperature'], timeUs]))
      const isHalf = (value: number) =>
        seriesOf(value).some(series => {
          return custom.get(`series=${series} ${timesUs.get(value)}`)?.values['value'] !== value
        })
      const inside = stored.filter(({ position }) => position >= from && position < to)
      // Values count up, so a later one with the same key is the greater.
      const lacks = ({ key, value }: { key: string; value: number }) => {
        const shownValue = shown.get(key) ?? -1
        return shownValue < value || (shownValue === value && isHalf(value))
      }
      return inside.filter(lacks).map(({ key }) => key)
    },
  }
}

/** A stamp of ours that differs from the clock. */
function strayStamp({ timeUs, values }: Row, clockUs: Map<number, number>): string[] {
  const value = values['temperature'] ?? Number.NaN
  const byUs = timeUs - (clockUs.get(value) ?? Number.NaN)
  return timeUs % 1000 === 0 || Math.abs(byUs) <= stampToleranceUs
    ? []
    : [`${value} is stamped ${byUs} µs from the clock`]
}

/** Whole milliseconds are times of clients. */
function readTable(table: Table): Map<string, number> {
  return new Map(
    [...table.values()].map(({ device, timeUs, values }) => {
      const value = values['temperature'] ?? Number.NaN
      return [keyOf({ device, timestampMs: timeUs % 1000 === 0 ? timeUs / 1000 : undefined, value }), value]
    }),
  )
}
