/** Reads stored readings again, for the evaluation to go on from where it was. */

import { setImmediate as turn } from 'node:timers/promises'
import type { Live } from '../../query/live/live.ts'
import { metrics } from '../../store/tables.ts'
import type { AlertDevices } from '../core/devices.ts'
import { type AlertReadings, type AskedReadings, askedColumns, type ReadAlertReadings } from '../core/readings.ts'
import { type PackedReadings, ReadingsBuffer } from './packed-readings.ts'

/** Metrics whose values are wanted of some devices. */
export interface ReplayPlan {
  readonly devices: readonly number[]
  readonly metrics: readonly string[]
  /** Epoch milliseconds. */
  readonly fromMs: number
  readonly toMs: number
}

export interface ReplayParts {
  readonly devices: AlertDevices
  readonly live: Pick<Live, 'latest'>
  readonly readings: ReadAlertReadings
  readonly nowMs: () => number
}

const devicesPerTurn = 500

/** The last values of devices whose newest reading is older than the plan's range. Of others they are in it. */
export async function* lastReadings(plan: ReplayPlan, parts: ReplayParts): AsyncGenerator<PackedReadings> {
  const buffer = new ReadingsBuffer()
  for (const [index, number] of plan.devices.entries()) {
    if (index % devicesPerTurn === devicesPerTurn - 1) {
      if (buffer.count > 0) yield buffer.take()
      await turn()
    }
    packLast(buffer, number, plan, parts)
  }
  if (buffer.count > 0) yield buffer.take()
}

/** A value of an older time than others is a reading of its own. */
function packLast(
  buffer: ReadingsBuffer,
  number: number,
  { metrics: wanted, fromMs }: ReplayPlan,
  parts: ReplayParts,
): void {
  const latest = parts.live.latest(number)
  if (latest === undefined) return
  const byTime = new Map<number, Map<string, number>>()
  for (const name of wanted) {
    const last = latest.values[name]
    if (last === undefined || last.ts >= fromMs) continue
    const values = byTime.get(last.ts) ?? new Map<string, number>()
    byTime.set(last.ts, values.set(name, last.v))
  }
  const nowMs = parts.nowMs()
  for (const [timeMs, values] of [...byTime].toSorted(([a], [b]) => a - b)) {
    buffer.addRow(number, timeMs * 1000, nowMs, column => values.get(metrics[column] as string) ?? Number.NaN)
    for (const [name, value] of values) {
      const place = parts.devices.seriesOf(number, name)
      if (place !== undefined && 'series' in place) buffer.addCustom(place.series, value)
    }
  }
}

/** Of each device in the order of time. Rejects when QuestDB is away. */
export async function* storedReadings(
  plan: ReplayPlan,
  parts: ReplayParts,
  signal: AbortSignal,
): AsyncGenerator<PackedReadings> {
  const asked = askOf(plan, parts.devices)
  if (asked.devices.length === 0) return
  for await (const piece of parts.readings(asked, signal)) yield pack(piece, asked, parts.nowMs())
}

export function askOf({ devices, metrics: wanted, fromMs, toMs }: ReplayPlan, registry: AlertDevices): AskedReadings {
  const found = devices.flatMap(number => registry.byNumber(number) ?? [])
  return { ...askedColumns(wanted, found, registry), fromUs: fromMs * 1000, toUs: toMs * 1000 }
}

function pack(piece: AlertReadings, asked: AskedReadings, nowMs: number): PackedReadings {
  const buffer = new ReadingsBuffer()
  const places = metrics.map(metric => asked.columns.indexOf(metric))
  const seriesOf = new Map(asked.devices.map(({ number, series }) => [number, series]))
  for (let row = 0; row < piece.length; row++) {
    const device = piece.device[row] as number
    buffer.addRow(device, piece.timesUs[row] as number, nowMs, column => {
      return piece.values[places[column] as number]?.[row] ?? Number.NaN
    })
    seriesOf.get(device)?.forEach((series, place) => {
      const value = piece.values[place]?.[row] ?? Number.NaN
      if (series !== undefined && !Number.isNaN(value)) buffer.addCustom(series, value)
    })
  }
  return buffer.take()
}
