/** Writes generated series to QuestDB in the forwarder's format, day by day. */

import { noneAbsent, RowFormat } from '../ingest/forwarder/row-format.ts'
import { RowBuffer } from '../ingest/forwarder/rows.ts'
import { readingLengthMax, readings, writeReading } from '../ingest/readings-table.ts'
import type { QuestdbAddress } from '../store/questdb/client/questdb-address.ts'
import { type MadeReading, type MadeSeries, madeReadings } from './made-series.ts'
import { untilApplied } from './store.ts'

const bodyBytes = 10 * 1024 * 1024
const dayMs = 86_400_000
const format = new RowFormat(readings)

/** Resolves when the rows are visible, with how many there are. */
export async function seed(address: QuestdbAddress, all: readonly MadeSeries[]): Promise<number> {
  const { host, port, authorization = '' } = address.http
  const buffer = new RowBuffer(format, bodyBytes)
  const record = new Uint8Array(readingLengthMax)
  const view = new DataView(record.buffer)
  let rows = 0
  const send = async () => {
    const body = Buffer.from(buffer.bytes.subarray(0, buffer.length))
    const response = await fetch(`http://${host}:${port}/write?precision=u`, {
      method: 'POST',
      headers: { authorization },
      body,
    })
    if (response.status !== 204) throw new Error(`QuestDB did not take the rows: ${await response.text()}`)
    buffer.clear()
  }
  for (const { device, timeMs, reading } of byDay(all)) {
    if (buffer.length > bodyBytes - format.bytesMax) await send()
    writeReading(view, 0, device, timeMs * 1000, false, reading)
    buffer.add(record, view, 0, noneAbsent)
    rows++
  }
  await send()
  await untilApplied(address)
  return rows
}

/** A day of every series, then the next day: QuestDB keeps a partition for each. */
function* byDay(all: readonly MadeSeries[]): Generator<MadeReading> {
  const open = all.map(series => {
    const readings = madeReadings(series)
    return { readings, next: readings.next() }
  })
  for (;;) {
    const nextMs = Math.min(...open.map(({ next }) => (next.done ? Number.POSITIVE_INFINITY : next.value.timeMs)))
    if (nextMs === Number.POSITIVE_INFINITY) return
    const dayEndMs = (Math.floor(nextMs / dayMs) + 1) * dayMs
    for (const one of open) {
      while (!one.next.done && one.next.value.timeMs < dayEndMs) {
        yield one.next.value
        one.next = one.readings.next()
      }
    }
  }
}
