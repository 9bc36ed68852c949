/** Texts about a change of many devices, and their new passwords as CSV. */

import type { IssuedPassword } from '../../auth/devices/device.ts'
import { countText, t, tc, tn } from '../words/words.ts'

/** The service takes no more in a change. */
export const selectionMax = 500

export function toggled(names: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const next = new Set(names)
  if (!next.delete(name) && next.size < selectionMax) next.add(name)
  return next
}

export type BulkAction = 'tag' | 'untag' | 'suspend' | 'resume' | 'rotate'
export const actionNames: Readonly<Record<BulkAction, string>> = {
  tag: tc('verb', 'Tag'),
  untag: t('Untag'),
  suspend: t('Suspend'),
  resume: t('Resume'),
  rotate: t('New passwords'),
}

export function selectedText(count: number): string {
  const text = t('{count} selected.', { count: countText(count) })
  return count < selectionMax ? text : `${text} ${t('A change takes no more.')}`
}

/** The question of a confirmation and its effects. */
export function questionOf(action: BulkAction, count: number): { title: string; consequence: string } {
  const devices = tn(count, '{count} device', '{count} devices')
  switch (action) {
    case 'tag':
      return { title: t('Tag {devices}?', { devices }), consequence: t('The tag replaces one of the same key.') }
    case 'untag':
      return {
        title: t('Untag {devices}?', { devices }),
        consequence: t('The tag is removed; site:* removes any of the key site.'),
      }
    case 'suspend':
      return {
        title: t('Suspend {devices}?', { devices }),
        consequence: t('Their readings are refused until they are resumed.'),
      }
    case 'resume':
      return { title: t('Resume {devices}?', { devices }), consequence: t('Their readings are taken again.') }
    case 'rotate':
      return {
        title: t('New passwords for {devices}?', { devices }),
        consequence: t('Each device needs its new password, which is shown only once.'),
      }
  }
}

const doneTexts: Readonly<Record<BulkAction, (devices: string) => string>> = {
  tag: devices => t('{devices} tagged.', { devices }),
  untag: devices => t('{devices} without the tag.', { devices }),
  suspend: devices => t('{devices} suspended.', { devices }),
  resume: devices => t('{devices} resumed.', { devices }),
  rotate: devices => t('{devices} with a new password.', { devices }),
}

export function resultText(action: BulkAction, done: number, failed: number): string {
  const text = doneTexts[action](tn(done, '{count} device', '{count} devices'))
  return failed === 0 ? text : `${text} ${tn(failed, 'Not done for {count} device:', 'Not done for {count} devices:')}`
}

export function passwordsCsv(issued: readonly IssuedPassword[]): string {
  const cell = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  return ['device,password', ...issued.map(({ device, password }) => `${cell(device)},${password}`), ''].join('\n')
}
