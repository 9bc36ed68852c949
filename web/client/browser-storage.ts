/** The storage of the browser, which may be forbidden or full, and the preferences in it. */

import type { Preferences } from '../../auth/accounts/preference-values.ts'
import { unitChoices, unitPreferences } from '../text/units.ts'
import { isZone } from '../theme/times.ts'

/** The call throws where storage is forbidden. Tests have their own. */
export type BrowserStorage = () => Pick<Storage, 'getItem' | 'setItem'>

export const browserStorage: BrowserStorage = () => localStorage

/** Undefined without an item. */
export function readItem(storage: BrowserStorage, key: string): string | undefined {
  try {
    return storage().getItem(key) ?? undefined
  } catch {
    return undefined
  }
}

/** An item of JSON may come from another version or another program: its fields have to be checked. */
export function readFields(storage: BrowserStorage, key: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(readItem(storage, key) ?? '{}'))
  } catch {
    return {}
  }
}

/** An item that cannot be stored ends with the page. */
export function writeItem(storage: BrowserStorage, key: string, text: string): void {
  try {
    storage().setItem(key, text)
  } catch {
    // Full, or forbidden.
  }
}

const preferencesKey = 'barograph.preferences'

interface Stored {
  preferences: Preferences
  /** The values are a copy of the account's. */
  isCopy: boolean
}

export function readStored(storage: BrowserStorage): Stored {
  const { isCopy, ...stored } = readFields(storage, preferencesKey)
  return { preferences: choicesIn(stored), isCopy: isCopy === true }
}

/** Languages of the pages, by their own names. */
export const languageNames = { en: 'English', de: 'Deutsch' } as const satisfies Record<
  NonNullable<Preferences['language']>,
  string
>

const languages = Object.keys(languageNames) as (keyof typeof languageNames)[]

/** The valid choices of a record. */
export function choicesIn(stored: Readonly<Record<string, unknown>>): Preferences {
  const units = unitPreferences.map(name => [name, unitChoices[name].find(code => code === stored[name]) ?? null])
  const zone = stored['time_zone']
  const language = languages.find(language => language === stored['language']) ?? null
  return { language, ...Object.fromEntries(units), time_zone: typeof zone === 'string' && isZone(zone) ? zone : null }
}

export function writeStored(storage: BrowserStorage, { preferences, isCopy }: Stored): void {
  writeItem(storage, preferencesKey, JSON.stringify({ ...preferences, isCopy }))
}
