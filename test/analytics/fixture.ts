/** Reads and compares figures of the references. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

// biome-ignore lint/suspicious/noExplicitAny: the script defines the shape, and an unknown name matches nothing
export type Fixture = any

/** The JSON written by the script of the same name. */
export function readFixture(name: string): Fixture {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'fixtures', `${name}.json`), 'utf8'))
}

/** JSON has no NaN: null is a missing value. */
export function floats(list: readonly (number | null)[]): Float64Array {
  return Float64Array.from(list, value => value ?? Number.NaN)
}

/** Times in milliseconds from a start and the steps in seconds. */
export function timesFrom(startMs: number, stepsSeconds: readonly number[]): Float64Array {
  let timeMs = startMs
  return Float64Array.of(startMs, ...stepsSeconds.map(seconds => (timeMs += seconds * 1000)))
}

/** The relative deviation, absolute for a reference of 0. Infinite if only one of them is null. */
export function deviation(value: number | null, reference: number | null): number {
  const isMissing = value === null || Number.isNaN(value)
  if (isMissing || reference === null) return isMissing && reference === null ? 0 : Number.POSITIVE_INFINITY
  return value === reference ? 0 : Math.abs(value - reference) / (Math.abs(reference) || 1)
}

interface HourlySeries {
  /** Values, or `file column` of cli/demo/data. */
  readonly values: number[] | string
  readonly length: number
}

export function hourlySeries({ values, length }: HourlySeries): Float64Array {
  if (typeof values !== 'string') return Float64Array.from(values)
  const [file = '', column = ''] = values.split(' ')
  return demoColumn(file, column).subarray(0, length)
}

/** A column of a file of cli/demo/data. Times are in milliseconds. */
export function demoColumn(file: string, column: string): Float64Array {
  const text = readFileSync(join(import.meta.dirname, '../../cli/demo/data', file), 'utf8').trimEnd()
  const [names = [], ...rows] = text.split('\n').map(line => line.split(','))
  const parse = column === 'timestamp' ? Date.parse : (cell: string) => (cell === '' ? Number.NaN : Number(cell))
  return Float64Array.from(rows, row => parse(row[names.indexOf(column)] ?? ''))
}

/** The largest difference from the reference, which has each `every`th value. */
export function farthest(part: Float64Array, expected: readonly number[], every: number): number {
  return Math.max(...expected.map((value, index) => Math.abs((part[index * every] ?? Number.NaN) - value)))
}
