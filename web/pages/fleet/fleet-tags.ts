/** Tags that filter the fleet: the address's tags and those on devices. */

import type { FleetDevice } from '../../../query/live/fleet-shape.ts'

/** The service takes no more. */
export const tagsMax = 16
/** The most frequent tags are offered. */
const offeredMax = 500

export function readTags(urlArguments: URLSearchParams): string[] {
  return [...new Set(urlArguments.getAll('tag'))].slice(0, tagsMax)
}

/** Arguments to append to an address or a request. */
export function tagArguments(tags: readonly string[]): string {
  return tags.map(tag => `&tag=${encodeURIComponent(tag)}`).join('')
}

/** Values by key, each with the whole tag. A key with several values can be asked for whatever its value is. */
export function offeredTags(devices: readonly FleetDevice[], chosen: readonly string[]): Map<string, string[]> {
  const counts = new Map<string, number>()
  for (const { tags = [] } of devices) for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1)
  const frequent = [...counts].sort(([, a], [, b]) => b - a).slice(0, offeredMax)
  const byKey = Map.groupBy(frequent.map(([tag]) => tag).sort(), keyOf)
  const offered = [...byKey].map(([key, tags]): [string, string[]] => {
    const all = tags.length > 1 ? [`${key}:*`, ...tags] : tags
    return [key, all.filter(tag => !chosen.includes(tag))]
  })
  return new Map(offered.filter(([, tags]) => tags.length > 0))
}

function keyOf(tag: string): string {
  return tag.slice(0, tag.indexOf(':'))
}
