/** Groups of the list by the tags of one key, with the numbers in their headings. */

import type { FiringGroups } from '../../../alerts/core/alert.ts'
import type { FleetDevice, FleetGroups } from '../../../query/live/fleet-shape.ts'
import { countText, t, tn, words } from '../../words/words.ts'
import { type Counts, totalOf } from './fleet-devices.ts'

/** The service's counts; alerts only with a session. */
export interface GroupCounts {
  groups: FleetGroups | undefined
  firing: FiringGroups | undefined
}

export interface DeviceGroup {
  /** The tag, or the id of devices without one. */
  id: string
  title: string
  /** Undefined until the service has counted it. */
  counts: Counts | undefined
  /** Devices on which alerts fire. */
  firing: number | undefined
  rows: readonly FleetDevice[]
}

const othersId = ':others'
const untaggedId = ':untagged'

/**
 * `rows` in their order. Empty groups are left out, except with `hasAll`: then their rows are being loaded. Rows
 * without a tag of the key come last.
 */
export function groupsOf(
  rows: readonly FleetDevice[],
  key: string,
  counted: GroupCounts,
  hasAll: boolean,
): DeviceGroup[] {
  const groups = counted.groups?.key === key ? counted.groups : undefined
  const firing = counted.firing?.key === key ? counted.firing : undefined
  const byTag = new Map(groups?.groups.map(({ tag, counts }) => [tag, counts]))
  const hasOthers = groups !== undefined && groups.groups_total > groups.groups.length
  const prefix = `${key}:`
  const idOf = ({ tags }: FleetDevice) => {
    const tag = tags?.find(one => one.startsWith(prefix))
    if (tag === undefined) return untaggedId
    return hasOthers && !byTag.has(tag) ? othersId : tag
  }
  const rowsOf = Map.groupBy(rows, idOf)
  const ofTag = firingByTag(firing)
  const group = (id: string, title: string, counts: Counts | undefined, alerts: number | undefined): DeviceGroup[] => {
    const found = rowsOf.get(id) ?? []
    const isShown = found.length > 0 || (hasAll && counts !== undefined && totalOf(counts) > 0)
    return isShown ? [{ id, title, counts, firing: alerts, rows: found }] : []
  }
  const tags = new Set([...byTag.keys(), ...rowsOf.keys()].filter(id => id.startsWith(prefix)))
  return [
    ...[...tags].sort(byValue).flatMap(tag => group(tag, tag, byTag.get(tag), ofTag(tag))),
    // The answer counts alerts by tag only.
    ...group(othersId, t('Custom values of {key}', { key }), groups?.others, undefined),
    ...group(untaggedId, t('No tag'), groups?.untagged, firing?.untagged),
  ]
}

const collator = new Intl.Collator(words.language, { numeric: true })
const byValue = (a: string, b: string) => collator.compare(a, b)

/** Undefined where the answer lacks the count. */
function firingByTag(firing: FiringGroups | undefined): (tag: string) => number | undefined {
  if (firing === undefined) return () => undefined
  const devices = new Map(firing.groups.map(group => [group.tag, group.devices]))
  return tag => devices.get(tag) ?? (firing.others === 0 ? 0 : undefined)
}

/** `3 of 40 devices · 2 silent · 1 with alerts`. `isComplete`: whether all devices have come that there are. */
export function groupText({ counts, firing, rows }: DeviceGroup, isComplete: boolean): string {
  if (counts === undefined) return ''
  const total = totalOf(counts)
  const devices =
    isComplete && rows.length < total
      ? tn(total, '{shown} of {count} device', '{shown} of {count} devices', { shown: countText(rows.length) })
      : tn(total, '{count} device', '{count} devices')
  const silent = counts.silent === 0 ? [] : [t('{count} silent', { count: countText(counts.silent) })]
  const alerts = firing === undefined || firing === 0 ? [] : [t('{count} with alerts', { count: countText(firing) })]
  return [devices, ...silent, ...alerts].join(' · ')
}

/** Keys of the devices' tags and the chosen key. */
export function groupKeys(devices: readonly FleetDevice[], chosen: string | undefined): string[] {
  const keys = new Set(chosen === undefined ? [] : [chosen])
  for (const { tags = [] } of devices) for (const tag of tags) keys.add(tag.slice(0, tag.indexOf(':')))
  return [...keys].sort()
}
