/** Texts about a change of many devices, and their new passwords as CSV. */

import { countOf, countText } from '../../analytics/findings/value-words.ts'
import type { IssuedPassword } from '../../auth/devices/device.ts'

/** The service takes no more in a change. */
export const selectionMax = 500

export function toggled(names: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const next = new Set(names)
  if (!next.delete(name) && next.size < selectionMax) next.add(name)
  return next
}

export type BulkAction = 'tag' | 'untag' | 'suspend' | 'resume' | 'rotate'
export const actionNames: Readonly<Record<BulkAction, string>> = {
  tag: 'Tag',
  untag: 'Untag',
  suspend: 'Suspend',
  resume: 'Resume',
  rotate: 'New passwords',
}

export function selectedText(count: number): string {
  const text = `${countText(count)} selected.`
  return count < selectionMax ? text : `${text} A change takes no more.`
}

/** The question of a confirmation and its effects. */
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

const doneTexts: Readonly<Record<BulkAction, (devices: string) => string>> = {
  tag: devices => `${devices} tagged.`,
  untag: devices => `${devices} without the tag.`,
  suspend: devices => `${devices} suspended.`,
  resume: devices => `${devices} resumed.`,
  rotate: devices => `${devices} with a new password.`,
}

export function resultText(action: BulkAction, done: number, failed: number): string {
  const text = doneTexts[action](countOf(done, 'device'))
  return failed === 0 ? text : `${text} Not done for ${countOf(failed, 'device')}:`
}

export function passwordsCsv(issued: readonly IssuedPassword[]): string {
  const cell = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  return ['device,password', ...issued.map(({ device, password }) => `${cell(device)},${password}`), ''].join('\n')
}
