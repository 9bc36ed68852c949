/** Environment variables that nobody reads and whose names are close to that of a setting: `PROT` for `PORT`. */

import { Settings } from './settings.ts'

export interface MisspeltSetting {
  name: string
  /** The setting that is meant. */
  meant: string
}

const names = Object.keys(Settings.shape)
const lengthMax = 40

/** Never with a value, which may be a password. */
export function misspeltSettings(environment: Record<string, string | undefined>): MisspeltSetting[] {
  return Object.entries(environment).flatMap(([name, value]) => {
    if (value === undefined || value === '' || names.includes(name) || !/^[A-Za-z][A-Za-z0-9_]{2,39}$/.test(name))
      return []
    const meant = names.find(known => isClose(name.toUpperCase(), known))
    return meant === undefined ? [] : [{ name, meant }]
  })
}

/** A sentence for the log and for `barograph doctor`. */
export function misspeltText({ name, meant }: MisspeltSetting): string {
  return `the environment variable ${name} is not a setting: ${meant} may be meant`
}

/** A difference in length is a lower bound of the distance, and spares most of the comparisons. */
function isClose(name: string, known: string): boolean {
  const most = distanceMax(known)
  return Math.abs(name.length - known.length) <= most && editDistance(name, known) <= most
}

/** Short names are close to many others, such as HOST to HOME. */
function distanceMax({ length }: string): number {
  return length < 8 ? 1 : 2
}

/** Letters to change, add, leave out or swap with the next one (optimal string alignment). */
export function editDistance(one: string, other: string): number {
  if (one.length > lengthMax || other.length > lengthMax) return lengthMax
  // Of the beginnings of the one, row by row, to each beginning of the other.
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, at) => at)]
  const at = (row: number, column: number) => rows[row]?.[column] ?? 0
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    rows.push(row)
    for (let j = 1; j <= other.length; j++) {
      const changed = at(i - 1, j - 1) + (one[i - 1] === other[j - 1] ? 0 : 1)
      const distance = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, changed)
      row.push(isSwap(one, i, other, j) ? Math.min(distance, at(i - 2, j - 2) + 1) : distance)
    }
  }
  return at(one.length, other.length)
}

/** Whether the last two letters of the beginnings are the same, in the other order. */
function isSwap(one: string, i: number, other: string, j: number): boolean {
  return i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
}
