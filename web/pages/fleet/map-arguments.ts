/** Arguments of the map: the list's search, states and tags. */

import { tagArguments } from './fleet-tags.ts'
import type { FleetView } from './fleet-view.ts'

/** The service takes no more. */
const searchCharactersMax = 128

export function mapArguments({ search, states }: FleetView, tags: readonly string[]): string {
  const text = [...search.trim()].slice(0, searchCharactersMax).join('')
  const q = text === '' ? '' : `&q=${encodeURIComponent(text)}`
  return `${q}${states.length === 0 ? '' : `&state=${states.join()}`}${tagArguments(tags)}`
}
