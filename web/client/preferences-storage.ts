/** A person's preferences as the browser stores them. */

import { noPreferences, type Preferences } from '../text/preferences.ts'
import { unitChoices, unitPreferences } from '../text/units.ts'
import { isZone } from '../theme/times.ts'
import type { BrowserStorage } from './browser-storage.ts'

const storageKey = 'barograph.preferences'

interface Stored {
  preferences: Preferences
  /** The values are a copy of the account's. */
  isCopy: boolean
}

/** Stored data may come from another version or another program: unknown choices are ignored. */
export function readStored(storage: BrowserStorage): Stored {
  try {
    const { isCopy, ...stored } = Object(JSON.parse(storage().getItem(storageKey) ?? '{}')) as Record<string, unknown>
    return { preferences: choicesIn(stored), isCopy: isCopy === true }
  } catch {
    return { preferences: noPreferences, isCopy: false }
  }
}

/** The valid choices of a record. */
export function choicesIn(stored: Readonly<Record<string, unknown>>): Preferences {
  const units = unitPreferences.map(name => [name, unitChoices[name].find(code => code === stored[name]) ?? null])
  const zone = stored['time_zone']
  return { ...Object.fromEntries(units), time_zone: typeof zone === 'string' && isZone(zone) ? zone : null }
}

export function writeStored(storage: BrowserStorage, { preferences, isCopy }: Stored): void {
  try {
    storage().setItem(storageKey, JSON.stringify({ ...preferences, isCopy }))
  } catch {
    // Full, or forbidden: the choice ends with the page.
  }
}
