/** A selector of devices in a few words. */

import type { Selector } from '../../../auth/devices/selector.ts'
import { listed } from '../../text/phrases.ts'

const namesShown = 3

/** Null: of the service. */
export function selectorText(selector: Selector | null): string {
  if (selector === null) return 'the service'
  if ('all' in selector) return 'all devices'
  if ('tags' in selector) return `devices with ${listed(selector.tags)}`
  const { devices } = selector
  const more = devices.length - namesShown
  return more > 0 ? `${devices.slice(0, namesShown).join(', ')} and ${more} more` : listed(devices)
}
