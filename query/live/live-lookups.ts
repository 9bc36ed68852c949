/**
 * Looks up single devices in QuestDB: devices whose interval has to be estimated, and devices with late readings. It
 * works in batches, and rests between them for as long as it works.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { bug } from '../../store/limits/bug.ts'
import { type AskFleetRows, customRow, deviceRow, lastRow } from '../answers/fleet-rows.ts'
import { valueAgeUsMax } from './device-hours.ts'
import type { LiveFleet } from './live-fleet.ts'
import { type LiveMetricsOf, mergeCustom, mergeDevice } from './live-rows.ts'

/** Numbers of readings since the beginning of the journal: accepted ones, and ones that QuestDB has applied. */
export interface Ordinals {
  readonly taken: number
  readonly applied: number
}

export interface LiveLookupsOptions {
  readonly fleet: LiveFleet
  readonly ask: AskFleetRows
  readonly ordinals: () => Ordinals
  readonly nowMs: () => number
  readonly aheadMs: number
  readonly metricsOf: LiveMetricsOf
  /** Delay between two checks for due devices. Readings are visible to queries a second after their acknowledgement. */
  readonly pauseMs: number
}

export interface LiveLookups {
  want(number: number): void
  run(signal: AbortSignal): Promise<void>
}

const devicesPerPiece = 32
/**
 * Delay until the next lookup of a device: short when QuestDB lacked its last reading, long in a large fleet, whose
 * lookups cost more and are more numerous.
 */
const againMs = { behind: 5000, small: 60_000, large: 600_000 }
const smallMax = 5000
/** Number of a device's newest readings to look at. A lookup scans the readings of all devices in their range. */
const timesMax = { least: 300, most: 5000, ofFleet: 30_000_000 }

export function createLiveLookups(options: LiveLookupsOptions): LiveLookups {
  const { fleet, ask, ordinals, nowMs, aheadMs, pauseMs } = options
  /** Numbers of devices since the last check. */
  const wanted = new Set<number>()
  /**
   * Each device number has the accepted ordinal that QuestDB must apply first. Late readings reach it behind newer
   * ones.
   */
  const waiting = new Map<number, number>()

  /** Removes and returns the devices that may be looked up now. */
  function takeDue(): number[] {
    const { taken, applied } = ordinals()
    for (const number of wanted) waiting.set(number, taken)
    wanted.clear()
    const due: number[] = []
    for (const [number, takenBy] of waiting) {
      const device = fleet.get(number)
      if (device !== undefined && (takenBy > applied || device.notBeforeMs > nowMs())) continue
      waiting.delete(number)
      if (device !== undefined) due.push(number)
    }
    return due
  }

  async function lookUp(numbers: readonly number[], signal: AbortSignal): Promise<boolean> {
    const nowUs = nowMs() * 1000
    const count = Math.floor(timesMax.ofFleet / Math.max(1, fleet.size))
    const devices = numbers.flatMap(number => fleet.get(number)?.device ?? [])
    const result = await ask(
      'fleetDevices',
      {
        devices: devices.map(({ number, symbol, expected_interval_seconds }) => ({
          number,
          symbol,
          expected_interval_seconds,
        })),
        nowUs,
        newestUs: nowUs + aheadMs * 1000,
        timesMax: Math.min(timesMax.most, Math.max(timesMax.least, count)),
      },
      signal,
    )
    if (!result.ok) return false
    if (result.rows.length > numbers.length * deviceRow.width) {
      throw bug(`${result.rows.length} row numbers for ${numbers.length} devices`)
    }
    for (let from = 0; from < result.rows.length; from += deviceRow.width) {
      takeRow(result.rows.subarray(from, from + deviceRow.width), nowUs)
    }
    for (const number of numbers) if (!(await lookUpCustom(options, number, signal))) return false
    return true
  }

  function takeRow(row: Float64Array, nowUs: number): void {
    const number = row[lastRow.number] as number
    const device = fleet.get(number)
    if (device === undefined) return
    mergeDevice(fleet, device, row, nowUs)
    const { lastUs } = device
    // True also when QuestDB has none.
    const isBehind = lastUs !== Number.NEGATIVE_INFINITY && !((row[lastRow.timeUs] as number) >= lastUs)
    if (isBehind) wanted.add(number)
    const usualMs = fleet.size <= smallMax ? againMs.small : againMs.large
    device.notBeforeMs = nowMs() + (isBehind ? againMs.behind : usualMs)
  }

  async function lookUpAll(numbers: readonly number[], signal: AbortSignal): Promise<void> {
    for (let from = 0; from < numbers.length; from += devicesPerPiece) {
      const startMs = performance.now()
      const isDone = await lookUp(numbers.slice(from, from + devicesPerPiece), signal)
      if (!isDone) {
        for (const number of numbers.slice(from)) wanted.add(number)
        return
      }
      await sleep(performance.now() - startMs, undefined, { signal, ref: false })
    }
  }

  return {
    want: number => void wanted.add(number),
    async run(signal) {
      while (!signal.aborted) {
        await sleep(pauseMs, undefined, { signal, ref: false })
        await lookUpAll(takeDue(), signal)
      }
    },
  }
}

/** Looks up a device's values without a column in the hours of the live state. False when QuestDB did not answer. */
async function lookUpCustom(
  { fleet, ask, metricsOf }: LiveLookupsOptions,
  number: number,
  signal: AbortSignal,
): Promise<boolean> {
  const series = metricsOf(number).flatMap(metric => metric.series ?? [])
  const lastUs = fleet.get(number)?.lastUs ?? Number.NEGATIVE_INFINITY
  if (series.length === 0 || lastUs === Number.NEGATIVE_INFINITY) return true
  const toUs = Math.floor(lastUs) + 1
  const result = await ask('fleetCustom', { fromUs: Math.max(0, toUs - valueAgeUsMax), toUs, series }, signal)
  if (!result.ok) return false
  const devices = new Map(series.map(one => [one, number]))
  for (let from = 0; from < result.rows.length; from += customRow.width) {
    mergeCustom(fleet, result.rows.subarray(from, from + customRow.width), devices)
  }
  return true
}
