/** Devices that became silent or returned since the last visit. */

import type { FleetDevice } from '../../../query/live/fleet-shape.ts'
import { type BrowserStorage, readFields, writeItem } from '../../client/browser-storage.ts'

export interface Visit {
  /** Epoch milliseconds, of the service. */
  atMs: number
  /** Names. */
  silent: string[]
}

export interface Changes {
  sinceMs: number
  becameSilent: string[]
  cameBack: string[]
}

const storageKey = 'barograph.fleet.visit'
/** A browser gives all pages of an origin some megabytes of storage. */
const namesMax = 10_000

/** Undefined without changes. A device that was removed, or does not log now, has not returned. */
export function changesSince(before: Visit, devices: readonly FleetDevice[]): Changes | undefined {
  const wasSilent = new Set(before.silent)
  const named = (wanted: (device: FleetDevice) => boolean) => devices.filter(wanted).map(({ device }) => device)
  const becameSilent = named(({ device, state }) => state === 'silent' && !wasSilent.has(device))
  const cameBack = named(({ device, state }) => (state === 'fresh' || state === 'late') && wasSilent.has(device))
  if (becameSilent.length === 0 && cameBack.length === 0) return undefined
  return { sinceMs: before.atMs, becameSilent, cameBack }
}

export function visitOf(devices: readonly FleetDevice[], atMs: number): Visit {
  const silent = devices.filter(({ state }) => state === 'silent').map(({ device }) => device)
  return { atMs, silent: silent.slice(0, namesMax) }
}

/** Undefined on the first visit, and where the browser stores nothing. */
export function readVisit(storage: BrowserStorage): Visit | undefined {
  const { atMs, silent } = readFields(storage, storageKey)
  return typeof atMs === 'number' && Array.isArray(silent) ? { atMs, silent: silent.map(String) } : undefined
}

export function writeVisit(storage: BrowserStorage, visit: Visit): void {
  writeItem(storage, storageKey, JSON.stringify(visit))
}
