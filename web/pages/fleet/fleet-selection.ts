/** Devices that are chosen for a change of many, and what such a change says. */

import { countOf, countText } from '../../text/numbers.ts'
import { tagArguments } from './fleet-tags.ts'
import type { FleetView } from './fleet-view.ts'

/** The service takes no more in a change. */
export const selectionMax = 500

export interface Selection {
  readonly names: ReadonlySet<string>
  toggle(name: string): void
}

export type BulkAction = 'tag' | 'untag' | 'suspend' | 'resume' | 'rotate'
export const actionNames: Readonly<Record<BulkAction, string>> = {
  tag: 'Tag',
  untag: 'Untag',
  suspend: 'Suspend',
  resume: 'Resume',
  rotate: 'New passwords',
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

export function selectedText(count: number): string {
  const text = `${countText(count)} selected.`
  return count < selectionMax ? text : `${text} A change takes no more.`
}

/** What a confirmation asks, and what comes of it. */
export function questionOf(action: BulkAction, count: number): { title: string; consequence: string } {
  const devices = countOf(count, 'device')
  switch (action) {
    case 'tag':
      return { title: `Tag ${devices}?`, consequence: 'The tag replaces one of the same key.' }
    case 'untag':
      return { title: `Untag ${devices}?`, consequence: 'The tag is removed; site:* removes any of the key site.' }
    case 'suspend':
      return { title: `Suspend ${devices}?`, consequence: 'Their readings are refused until they are resumed.' }
    case 'resume':
      return { title: `Resume ${devices}?`, consequence: 'Their readings are taken again.' }
    case 'rotate':
      return {
        title: `New passwords for ${devices}?`,
        consequence: 'Each device needs its new password, which is shown only once.',
      }
  }
}

const doneWords: Readonly<Record<BulkAction, string>> = {
  tag: 'tagged',
  untag: 'without the tag',
  suspend: 'suspended',
  resume: 'resumed',
  rotate: 'with a new password',
}

export function resultText(action: BulkAction, done: number, failed: number): string {
  const text = `${countOf(done, 'device')} ${doneWords[action]}.`
  return failed === 0 ? text : `${text} Not done for ${countOf(failed, 'device')}:`
}
