/** Describes the devices that a principal may read or write: an account's, tagged ones, or all. */

import { createTagMatcher, type Tagged } from './tag.ts'

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
