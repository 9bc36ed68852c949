/** Selects devices: by name, by tag, all, or those that a principal may read or write. */

import { z } from 'zod'
import { composed } from '../../store/plain-text.ts'
import { createTagMatcher, type Tagged, TagMatch, tagsMax } from './tag.ts'

const namesMax = 1000
/** Counts UTF-16 units, with any spelling and names of older devices. */
const nameLengthMax = 512

export const Selector = z.union(
  [
    z.strictObject({ devices: z.array(z.string().min(1).max(nameLengthMax).overwrite(composed)).min(1).max(namesMax) }),
    z.strictObject({ tags: z.array(TagMatch).min(1).max(tagsMax) }).meta({ description: 'All of them must hold.' }),
    z.strictObject({ all: z.literal(true) }),
  ],
  'must have devices, tags or all',
)
export type Selector = z.infer<typeof Selector>

export interface SelectableDevice extends Tagged {
  readonly name: string
}

/** Tests devices against the selector. The caller limits them to those that the owner may read. */
export function createSelection(selector: Selector): (device: SelectableDevice) => boolean {
  if ('all' in selector) return () => true
  if ('tags' in selector) return createTagMatcher(selector.tags)
  const names = new Set(selector.devices)
  return ({ name }) => names.has(name)
}

export interface DeviceScope {
  /** Limits devices to this account; undefined for any. */
  readonly owner: number | undefined
  /** Limits devices to these tags; undefined for none. */
  readonly tags: readonly string[] | undefined
}

export type ScopedDevice = Tagged & { readonly owner: number | null }

/** Checks a device's present state. */
export function createScopeCheck({ owner, tags }: DeviceScope): (device: ScopedDevice) => boolean {
  const isOwned = (device: ScopedDevice) => owner === undefined || device.owner === owner
  if (tags === undefined) return isOwned
  const isTagged = createTagMatcher(tags)
  return device => isOwned(device) && isTagged(device)
}
