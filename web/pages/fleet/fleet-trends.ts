/** The last 24 hours of devices and their trends: how they are asked for, and those that are known. */

import type { FleetDevice, FleetTrends } from '../../../query/live/fleet-shape.ts'

export type DeviceTrend = FleetTrends['devices'][number]
/** By device name. */
export type KnownTrends = ReadonlyMap<string, DeviceTrend>

/** The service's maximum per request, in a URL that all proxies accept. */
const devicesMax = 100
const lengthMax = 6_000
/** Rows that were on the screen before have theirs when they are there again. */
const keptMax = 2_000

/** The request for these rows, equal in any order; undefined where all devices have never reported. */
export function trendsPath(rows: readonly Pick<FleetDevice, 'device' | 'last_seen'>[]): string | undefined {
  const names = rows.filter(({ last_seen }) => last_seen !== null).slice(0, devicesMax)
  let path = '/api/fleet/trends?'
  for (const name of names.map(({ device }) => device).sort()) {
    const more = `device=${encodeURIComponent(name)}&`
    if (path.length + more.length <= lengthMax) path += more
  }
  return path.endsWith('?') ? undefined : path.slice(0, -1)
}

/** The newest last: of too many, the oldest ones are left out. */
export function withNewer(known: KnownTrends, newer: readonly DeviceTrend[]): KnownTrends {
  const merged = new Map(known)
  for (const trend of newer) {
    merged.delete(trend.device)
    merged.set(trend.device, trend)
  }
  return new Map([...merged].slice(-keptMax))
}
