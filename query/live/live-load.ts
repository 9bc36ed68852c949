/** Loads the state of the fleet from QuestDB, piece by piece: the last reading of each device and its last hours. */

import { setImmediate as turn } from 'node:timers/promises'
import { bug } from '../../store/limits/bug.ts'
import { customRow, hourRow, lastRow } from '../answers/fleet-rows.ts'
import type { AskFleetRows } from '../fleet-rows-query.ts'
import type { HourSources } from '../questdb/hourly-sql.ts'
import { hourMs, hoursShown, hourUs, intervalByCounts } from './hours.ts'
import type { LiveFleet } from './live-fleet.ts'
import type { LiveMetricsOf } from './live-metrics.ts'
import { mergeCustom, mergeHour, mergeLast } from './live-rows.ts'
import { kindAt } from './live-state.ts'

export interface LiveLoadOptions {
  readonly fleet: LiveFleet
  readonly ask: AskFleetRows
  readonly hourSources: () => HourSources
  readonly nowMs: () => number
  /** How far readings may be ahead of our clock. */
  readonly aheadMs: number
  readonly metricsOf: LiveMetricsOf
  readonly want: (number: number) => void
}

/** The reason why the state could not be loaded. */
export class LoadFailed extends Error {
  override name = 'LoadFailed'
}

/** They take some milliseconds of the main thread. */
const rowsPerTurn = 5000
/** In a fleet up to this size each device without a configured interval is looked up. A larger fleet begins with guesses. */
const exactDevicesMax = 5000
/** Each stretch of time is this many times as long as the one after it, back to the beginning. */
const growth = 4
const beginningUs = Date.UTC(2000, 0, 1) * 1000

/** Rejects with `LoadFailed`; data loaded by then stay. */
export async function loadFleet(options: LiveLoadOptions, signal: AbortSignal): Promise<void> {
  const presentHour = Math.floor(options.nowMs() / hourMs)
  await loadLast(options, presentHour, signal)
  for (let hour = presentHour - hoursShown; hour <= presentHour; hour++) await loadHour(options, hour, signal)
  await finish(options, presentHour, signal)
}

/** Goes back in time until each device has been seen. */
async function loadLast(options: LiveLoadOptions, presentHour: number, signal: AbortSignal): Promise<void> {
  const { fleet, ask, hourSources, nowMs, aheadMs } = options
  const seen = new Uint8Array(fleet.slotsEnd())
  const devices = await devicesBySeries(options, signal)
  let toUs = (nowMs() + aheadMs) * 1000 + 1
  let fromUs = (presentHour - hoursShown) * hourUs
  const oldestUs = Math.max(beginningUs, hourSources().expiredBeforeUs)
  for (let piece = 0; toUs > oldestUs; piece++) {
    // The second piece shows whether the first has devices that are new.
    if (piece > 1 && isEachSeen(fleet, seen)) return
    const result = await ask('fleetLast', { fromUs: Math.max(fromUs, oldestUs), toUs }, signal)
    if (!result.ok && (piece === 0 || result.code !== 'TIMED_OUT')) throw new LoadFailed(result.code)
    // The stretch has too many rows: unseen devices are looked up one by one.
    if (!result.ok) return wantUnseen(options, seen)
    await eachRow(options, result.rows, lastRow.width, signal, (slot, row) => {
      seen[slot] = 1
      mergeLast(fleet, slot, row)
    })
    await loadCustom(options, devices, { fromUs: Math.max(fromUs, oldestUs), toUs }, signal)
    const lengthUs = growth * (toUs - fromUs)
    toUs = fromUs
    fromUs = toUs - lengthUs
  }
}

async function devicesBySeries(
  { fleet, metricsOf }: LiveLoadOptions,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, number>> {
  const devices = new Map<number, number>()
  for (let slot = 0; slot < fleet.slotsEnd(); slot++) {
    if ((slot + 1) % rowsPerTurn === 0) await turn(undefined, { signal })
    const number = fleet.device(slot)?.number
    if (number === undefined) continue
    for (const { series } of metricsOf(number)) if (series !== undefined) devices.set(series, number)
  }
  return devices
}

/** Values that exceed the time of a query are left out. They come with the next readings. */
async function loadCustom(
  { fleet, ask }: LiveLoadOptions,
  devices: ReadonlyMap<number, number>,
  range: { readonly fromUs: number; readonly toUs: number },
  signal: AbortSignal,
): Promise<void> {
  if (devices.size === 0) return
  const result = await ask('fleetCustom', { ...range, series: undefined }, signal)
  if (!result.ok && result.code !== 'TIMED_OUT') throw new LoadFailed(result.code)
  const rows = result.ok ? result.rows : new Float64Array(0)
  for (let from = 0, count = 1; from < rows.length; from += customRow.width, count++) {
    mergeCustom(fleet, rows.subarray(from, from + customRow.width), devices)
    if (count % rowsPerTurn === 0) await turn(undefined, { signal })
  }
}

function isEachSeen(fleet: LiveFleet, seen: Uint8Array): boolean {
  for (let slot = 0; slot < seen.length; slot++) if (seen[slot] === 0 && fleet.device(slot) !== undefined) return false
  return true
}

function wantUnseen({ fleet, want }: LiveLoadOptions, seen: Uint8Array): void {
  for (const [slot, isSeen] of seen.entries()) {
    const device = fleet.device(slot)
    if (isSeen === 0 && device !== undefined) want(device.number)
  }
}

async function loadHour(options: LiveLoadOptions, hour: number, signal: AbortSignal): Promise<void> {
  const { fleet, ask, hourSources } = options
  const fromUs = hour * hourUs
  const isInView = fromUs + hourUs <= hourSources().rawFromUs
  let result = await ask('fleetHour', { fromUs, isInView }, signal)
  // The view may be in the middle of a rebuild.
  if (!result.ok && isInView) result = await ask('fleetHour', { fromUs, isInView: false }, signal)
  if (!result.ok) throw new LoadFailed(result.code)
  await eachRow(options, result.rows, hourRow.width, signal, (slot, row) => mergeHour(fleet, slot, hour, row))
}

/** Visits some thousands of rows a turn. Rows of devices outside the registry are skipped. */
async function eachRow(
  { fleet }: LiveLoadOptions,
  rows: Float64Array,
  width: number,
  signal: AbortSignal,
  take: (slot: number, row: Float64Array) => void,
): Promise<void> {
  if (rows.length % width !== 0) throw bug(`${rows.length} numbers are not a multiple of the row width ${width}`)
  for (let from = 0, count = 1; from < rows.length; from += width, count++) {
    const slot = fleet.slotOf(rows[from] as number)
    if (slot >= 0) take(slot, rows.subarray(from, from + width))
    if (count % rowsPerTurn === 0) await turn(undefined, { signal })
  }
}

async function finish({ fleet, want }: LiveLoadOptions, presentHour: number, signal: AbortSignal): Promise<void> {
  const isSmall = fleet.slotsEnd() <= exactDevicesMax
  for (let slot = 0; slot < fleet.slotsEnd(); slot++) {
    if ((slot + 1) % rowsPerTurn === 0) await turn(undefined, { signal })
    const device = fleet.device(slot)
    if (device === undefined) continue
    const { kinds, lastUs } = fleet.columns()
    if (kinds[slot] === kindAt.unknown && lastUs[slot] !== Number.NEGATIVE_INFINITY) {
      const expectedMs = intervalByCounts(fleet.columns(), slot, presentHour)
      if (!Number.isNaN(expectedMs)) fleet.estimated(slot, { kind: kindAt.regular, expectedMs, gapMs: Number.NaN })
      if (isSmall || Number.isNaN(expectedMs)) want(device.number)
    }
    fleet.update(slot)
  }
}
