/** Devices that are chosen for a change of many. */

import { tagArguments } from './fleet-tags.ts'
import type { FleetView } from './fleet-view.ts'

/** The service takes no more in a change. */
export const selectionMax = 500

export interface Selection {
  readonly names: ReadonlySet<string>
  toggle(name: string): void
}

/** The first devices by name of those that the page lists. */
export function matchPath({ search, states }: FleetView, tags: readonly string[]): string {
  const text = search.trim()
  const state = states.length === 0 ? '' : `&state=${states.join(',')}`
  const q = text === '' ? '' : `&q=${encodeURIComponent(text)}`
  return `/api/fleet?order=name&limit=${selectionMax}${state}${q}${tagArguments(tags)}`
}

export function toggled(names: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const next = new Set(names)
  if (!next.delete(name) && next.size < selectionMax) next.add(name)
  return next
}
