/** Which devices somebody may read or write: those of an account, those with tags, or all. */

import { createTagMatcher, type Tagged } from './tag.ts'

export interface DeviceScope {
  /** Only devices of this account; undefined: of anybody. */
  readonly owner: number | undefined
  /** Only devices with all these tags; undefined: also without. */
  readonly tags: readonly string[] | undefined
}

export type ScopedDevice = Tagged & { readonly owner: number | null }

/** As a device is at the moment. */
export function createScopeCheck({ owner, tags }: DeviceScope): (device: ScopedDevice) => boolean {
  const isOwned = (device: ScopedDevice) => owner === undefined || device.owner === owner
  if (tags === undefined) return isOwned
  const isTagged = createTagMatcher(tags)
  return device => isOwned(device) && isTagged(device)
}
