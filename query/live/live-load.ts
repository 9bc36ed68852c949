/** Loads the state of the fleet from QuestDB, piece by piece: the last reading of each device and its last hours. */

import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { bug } from '../../store/limits/bug.ts'
import type { Log } from '../../store/log.ts'
import { type AskFleetRows, customRow, hourRow, lastRow } from '../answers/fleet-rows.ts'
import type { HourSources } from '../questdb/hourly-sql.ts'
import { hourMs, hoursShown, hourUs } from './device-hours.ts'
import type { DeviceState } from './device-state.ts'
import type { LiveFleet } from './live-fleet.ts'
import { type LiveMetricsOf, mergeCustom, mergeHour, mergeLast } from './live-rows.ts'

export interface LiveLoadOptions {
  readonly fleet: LiveFleet
  readonly ask: AskFleetRows
  readonly hourSources: () => HourSources
  readonly nowMs: () => number
  /** Readings may be ahead of the clock by this much. */
  readonly aheadMs: number
  readonly metricsOf: LiveMetricsOf
  readonly want: (number: number) => void
  readonly retryMs: number
  readonly signal: AbortSignal
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
}

export interface LiveLoading {
  /** Loads now, or once more after the load in progress. */
  start(): void
  /** True once a load has succeeded. */
  isLoaded(): boolean
  /** Resolves when no load is in progress. */
  idle(): Promise<void>
}

/** The reason why the state could not be loaded. */
class LoadFailed extends Error {
  override name = 'LoadFailed'
}

/** Retries until a load succeeds, one load at a time. */
export function createLiveLoading(options: LiveLoadOptions): LiveLoading {
  const { retryMs, signal, log } = options
  let isLoaded = false
  let isWanted = false
  let loading: Promise<void> | undefined
  let lastReason: string | undefined

  async function loadOnce(): Promise<void> {
    isWanted = false
    const startMs = performance.now()
    try {
      await loadFleet(options)
      isLoaded = true
      lastReason = undefined
      log.info({ ms: Math.round(performance.now() - startMs) }, 'state of the fleet loaded')
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof LoadFailed) report(error.message)
      else log.error({ err: error }, 'the state of the fleet cannot be loaded')
      isWanted = true
      await sleep(retryMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  /** The queries themselves report that QuestDB does not answer. */
  function report(reason: string): void {
    if (reason !== lastReason && reason !== 'DATABASE_AWAY') {
      log.warn({ reason }, 'the state of the fleet cannot be loaded, retrying')
    }
    lastReason = reason
  }

  async function run(): Promise<void> {
    while (isWanted && !signal.aborted) await loadOnce()
    loading = undefined
  }

  return {
    start() {
      isWanted = true
      loading ??= run()
    },
    isLoaded: () => isLoaded,
    idle: () => loading ?? Promise.resolve(),
  }
}

/** They take some milliseconds of the main thread. */
const rowsPerTurn = 5000
/**
 * Each device without a configured interval is looked up in a fleet up to this size. A larger fleet begins with
 * guesses.
 */
const exactDevicesMax = 5000
/** Each stretch of time is this many times as long as the one after it, back to the beginning. */
const growth = 4
const beginningUs = Date.UTC(2000, 0, 1) * 1000

/** Rejects with `LoadFailed`; data loaded by then stay. */
async function loadFleet(options: LiveLoadOptions): Promise<void> {
  const presentHour = Math.floor(options.nowMs() / hourMs)
  await loadLast(options, presentHour)
  for (let hour = presentHour - hoursShown; hour <= presentHour; hour++) await loadHour(options, hour)
  await finish(options, presentHour)
}

/** Goes back in time until each device has been seen. */
async function loadLast(options: LiveLoadOptions, presentHour: number): Promise<void> {
  const { fleet, ask, hourSources, nowMs, aheadMs, want, signal } = options
  const { unseen, bySeries } = await devicesOf(options)
  let toUs = (nowMs() + aheadMs) * 1000 + 1
  let fromUs = (presentHour - hoursShown) * hourUs
  const oldestUs = Math.max(beginningUs, hourSources().expiredBeforeUs)
  for (let piece = 0; toUs > oldestUs; piece++) {
    // The second piece shows whether the first has devices that are new.
    if (piece > 1 && unseen.size === 0) return
    const range = { fromUs: Math.max(fromUs, oldestUs), toUs }
    const result = await ask('fleetLast', range, signal)
    if (!result.ok && (piece === 0 || result.code !== 'TIMED_OUT')) throw new LoadFailed(result.code)
    // The stretch has too many rows: unseen devices are looked up one by one.
    if (!result.ok) {
      for (const { device } of unseen) want(device.number)
      return
    }
    await eachRow(fleet, result.rows, lastRow.width, signal, (device, row) => {
      unseen.delete(device)
      mergeLast(device, row)
    })
    if (bySeries.size > 0) await loadCustom(options, bySeries, range)
    const lengthUs = growth * (toUs - fromUs)
    toUs = fromUs
    fromUs = toUs - lengthUs
  }
}

/** All devices, and their numbers by the numbers of their series. */
async function devicesOf({ fleet, metricsOf, signal }: LiveLoadOptions) {
  const unseen = new Set<DeviceState>()
  const bySeries = new Map<number, number>()
  await fleet.each(device => {
    unseen.add(device)
    const { number } = device.device
    for (const { series } of metricsOf(number)) if (series !== undefined) bySeries.set(series, number)
  }, signal)
  return { unseen, bySeries }
}

/** Values that exceed the time of a query are left out. They come with the next readings. */
async function loadCustom(
  { fleet, ask, signal }: LiveLoadOptions,
  devices: ReadonlyMap<number, number>,
  range: { readonly fromUs: number; readonly toUs: number },
): Promise<void> {
  const result = await ask('fleetCustom', { ...range, series: undefined }, signal)
  if (!result.ok && result.code !== 'TIMED_OUT') throw new LoadFailed(result.code)
  const rows = result.ok ? result.rows : new Float64Array(0)
  for (let from = 0, count = 1; from < rows.length; from += customRow.width, count++) {
    mergeCustom(fleet, rows.subarray(from, from + customRow.width), devices)
    if (count % rowsPerTurn === 0) await turn(undefined, { signal })
  }
}

async function loadHour({ fleet, ask, hourSources, signal }: LiveLoadOptions, hour: number): Promise<void> {
  const fromUs = hour * hourUs
  const isInView = fromUs + hourUs <= hourSources().rawFromUs
  let result = await ask('fleetHour', { fromUs, isInView }, signal)
  // The view may be in the middle of a rebuild.
  if (!result.ok && isInView) result = await ask('fleetHour', { fromUs, isInView: false }, signal)
  if (!result.ok) throw new LoadFailed(result.code)
  await eachRow(fleet, result.rows, hourRow.width, signal, (device, row) => mergeHour(device, hour, row))
}

/** Visits some thousands of rows a turn. Rows of devices outside the registry are skipped. */
async function eachRow(
  fleet: LiveFleet,
  rows: Float64Array,
  width: number,
  signal: AbortSignal,
  take: (device: DeviceState, row: Float64Array) => void,
): Promise<void> {
  if (rows.length % width !== 0) throw bug(`${rows.length} numbers are not a multiple of the row width ${width}`)
  for (let from = 0, count = 1; from < rows.length; from += width, count++) {
    const device = fleet.get(rows[from] as number)
    if (device !== undefined) take(device, rows.subarray(from, from + width))
    if (count % rowsPerTurn === 0) await turn(undefined, { signal })
  }
}

async function finish({ fleet, want, signal }: LiveLoadOptions, presentHour: number): Promise<void> {
  const isSmall = fleet.size <= exactDevicesMax
  await fleet.each(device => {
    if (device.cadence.kind === 'unknown' && device.lastUs !== Number.NEGATIVE_INFINITY) {
      const expectedMs = device.hours.interval(presentHour)
      if (!Number.isNaN(expectedMs)) device.estimated({ kind: 'regular', expectedMs, gapMs: null })
      if (isSmall || Number.isNaN(expectedMs)) want(device.device.number)
    }
    fleet.update(device)
  }, signal)
}
