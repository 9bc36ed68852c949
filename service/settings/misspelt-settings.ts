/** Finds unknown environment variables whose names are close to a setting's: `PROT` for `PORT`. */

import { Settings } from './settings.ts'

export interface MisspeltSetting {
  name: string
  meant: string
}

const names = Object.keys(Settings.shape)
const lengthMax = 40

/** Omits values, which may be passwords. */
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

/** The difference in length is a lower bound of the distance, which avoids most comparisons. */
function isClose(name: string, known: string): boolean {
  const most = distanceMax(known)
  return Math.abs(name.length - known.length) <= most && editDistance(name, known) <= most
}

/** Short names are close to many others, such as HOST to HOME. */
function distanceMax({ length }: string): number {
  return length < 8 ? 1 : 2
}

/** Letters to change, add, remove or swap with the next one (optimal string alignment). */
function editDistance(one: string, other: string): number {
  if (one.length > lengthMax || other.length > lengthMax) return lengthMax
  // Distances of each prefix of one to each prefix of the other, row by row.
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

/** True if the last two letters of the prefixes are swapped. */
function isSwap(one: string, i: number, other: string, j: number): boolean {
  return i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
}
