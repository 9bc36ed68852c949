/** Devices on which alerts fire, counted by their tags of one key. */

import { type FiringGroups, firingGroupsMax } from '../core/alert.ts'
import type { AlertDevice } from '../core/devices.ts'

export function firingGroups(devices: readonly Pick<AlertDevice, 'tags'>[], key: string): FiringGroups {
  const prefix = `${key}:`
  const byTag = Map.groupBy(devices, ({ tags }) => tags.find(tag => tag.startsWith(prefix)))
  const untagged = byTag.get(undefined)?.length ?? 0
  byTag.delete(undefined)
  const groups = [...byTag].map(([tag = '', found]) => ({ tag, devices: found.length }))
  const bySize = groups.sort((a, b) => b.devices - a.devices)
  const others = bySize.slice(firingGroupsMax).reduce((sum, group) => sum + group.devices, 0)
  return { key, groups: bySize.slice(0, firingGroupsMax), others, untagged }
}
