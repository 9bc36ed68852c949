/**
 * Looks up single devices in QuestDB: devices whose interval has to be estimated, and devices with late readings. It
 * works in batches, and rests between them for as long as it works.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { bug } from '../../store/limits/bug.ts'
import { customRow, deviceRow, lastRow } from '../answers/fleet-rows.ts'
import type { AskFleetRows } from '../fleet-rows-query.ts'
import { DueLookups, type DueLookupsOptions } from './due-lookups.ts'
import { valueAgeUsMax } from './hours.ts'
import type { LiveFleet } from './live-fleet.ts'
import type { LiveMetricsOf } from './live-metrics.ts'
import { mergeCustom, mergeDevice } from './live-rows.ts'

export interface LiveLookupsOptions extends Omit<DueLookupsOptions, 'isDue'> {
  readonly fleet: LiveFleet
  readonly ask: AskFleetRows
  readonly nowMs: () => number
  readonly aheadMs: number
  readonly metricsOf: LiveMetricsOf
  /** Delay between two checks for due devices. Readings are visible to queries a second after their acknowledgement. */
  readonly pauseMs?: number
}

export interface LiveLookups {
  want(number: number): void
  run(signal: AbortSignal): Promise<void>
}

const devicesPerPiece = 32
/**
 * Seconds until the next lookup of a device: few when QuestDB lacked its last reading, many in a large fleet, whose
 * lookups cost more and are more numerous.
 */
const againSeconds = { behind: 5, small: 60, large: 600 }
const smallMax = 5000
/** Number of a device's newest readings to look at. A lookup scans the readings of all devices in their range. */
const timesMax = { least: 300, most: 5000, ofFleet: 30_000_000 }

export function createLiveLookups(options: LiveLookupsOptions): LiveLookups {
  const { fleet, ask, nowMs, aheadMs, pauseMs = 2000 } = options
  const due = new DueLookups({
    ...options,
    isDue(number) {
      const slot = fleet.slotOf(number)
      return slot < 0 ? undefined : (fleet.columns().notBefore[slot] as number) <= nowMs() / 1000
    },
  })

  async function lookUp(numbers: readonly number[], signal: AbortSignal): Promise<boolean> {
    const nowUs = nowMs() * 1000
    const count = Math.floor(timesMax.ofFleet / Math.max(1, fleet.slotsEnd()))
    const result = await ask(
      'fleetDevices',
      {
        devices: analysedOf(fleet, numbers),
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
      const slot = fleet.slotOf(result.rows[from] as number)
      if (slot >= 0) takeRow(slot, result.rows.subarray(from, from + deviceRow.width), nowUs)
    }
    for (const number of numbers) if (!(await lookUpCustom(options, number, signal))) return false
    return true
  }

  function takeRow(slot: number, row: Float64Array, nowUs: number): void {
    mergeDevice(fleet, slot, row, nowUs)
    const { lastUs, notBefore, numbers } = fleet.columns()
    const last = lastUs[slot] as number
    // Also true when QuestDB has none.
    const isBehind = last !== Number.NEGATIVE_INFINITY && !((row[lastRow.timeUs] as number) >= last)
    if (isBehind) due.want(numbers[slot] as number)
    const usual = fleet.slotsEnd() <= smallMax ? againSeconds.small : againSeconds.large
    notBefore[slot] = nowMs() / 1000 + (isBehind ? againSeconds.behind : usual)
  }

  async function lookUpAll(numbers: readonly number[], signal: AbortSignal): Promise<void> {
    for (let from = 0; from < numbers.length; from += devicesPerPiece) {
      const startMs = performance.now()
      const isDone = await lookUp(numbers.slice(from, from + devicesPerPiece), signal)
      if (!isDone) {
        for (const number of numbers.slice(from)) due.want(number)
        return
      }
      await sleep(performance.now() - startMs, undefined, { signal, ref: false })
    }
  }

  return {
    want: number => due.want(number),
    async run(signal) {
      while (!signal.aborted) {
        await sleep(pauseMs, undefined, { signal, ref: false })
        await lookUpAll(due.take(), signal)
      }
    },
  }
}

function analysedOf(fleet: LiveFleet, numbers: readonly number[]) {
  return numbers.flatMap(number => {
    const { symbol, expected_interval_seconds = null } = fleet.device(fleet.slotOf(number)) ?? {}
    return symbol === undefined ? [] : [{ number, symbol, expected_interval_seconds }]
  })
}

/** Looks up a device's values without a column in the hours of the live state. False when QuestDB did not answer. */
async function lookUpCustom(
  { fleet, ask, metricsOf }: LiveLookupsOptions,
  number: number,
  signal: AbortSignal,
): Promise<boolean> {
  const series = metricsOf(number).flatMap(metric => metric.series ?? [])
  const lastUs = fleet.columns().lastUs[fleet.slotOf(number)] ?? Number.NEGATIVE_INFINITY
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
