/** Finds unknown environment variables whose names are close to a setting's: `PROT` for `PORT`. */

import { editDistance } from '../../store/edit-distance.ts'
import { Settings } from './settings.ts'

export interface MisspeltSetting {
  name: string
  meant: string
}

const names = Object.keys(Settings.shape)

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
