/** The service with generated history for some of its devices, and queries for them. */

import { noneAbsent, RowFormat } from '../ingest/forwarder/row-format.ts'
import { RowBuffer } from '../ingest/forwarder/write-request.ts'
import { type DeviceRef, readingLengthMax, readings, writeReading } from '../ingest/readings-table.ts'
import type { QuestdbAddress } from '../store/questdb/client/questdb-address.ts'
import { type Service, startService } from '../test/support/service.ts'
import { type MadeReading, type MadeSeries, madeReadings } from './made-series.ts'
import { type Hooks, sleep } from './measure.ts'
import { type BenchService, deviceName, startBenchService } from './service.ts'
import { type BenchStore, untilApplied } from './store.ts'

export interface MadeDevice extends MadeSeries {
  /** The name in a path. */
  readonly path: string
}

/** A number of devices with a number of days of history. */
interface MadeKind extends Pick<MadeSeries, 'days' | 'stepMs' | 'isWithoutBattery'> {
  readonly count: number
}

export interface MadeFleet extends BenchService {
  /** The first devices, by kind and in this order. */
  readonly made: MadeDevice[][]
}

const minuteMs = 60_000
/** The service checks the hourly view periodically. */
const lookMs = 6000

/** Number of further devices without readings. */
export async function startMadeFleet(
  hooks: Hooks,
  kinds: readonly MadeKind[],
  others: number,
  settings: Record<string, string>,
): Promise<MadeFleet> {
  const count = kinds.reduce((sum, kind) => sum + kind.count, others)
  const bench = await startBenchService(hooks, count, settings)
  const made = await planDevices(bench.service, kinds)
  // A running service only knows readings that it received, so imported rows must exist before its start.
  const { dataDirectory } = bench.service
  await bench.service.end('SIGTERM')
  await seed(bench.store.questdb, made.flat())
  const service = await startService(hooks, { dataDirectory, environment: bench.environment })
  await untilViewFollows(bench.store)
  return { ...bench, service, port: Number(new URL(service.url).port), made }
}

async function planDevices(service: Service, kinds: readonly MadeKind[]): Promise<MadeDevice[][]> {
  const endMs = Math.floor(Date.now() / minuteMs) * minuteMs
  let index = 0
  const made: MadeDevice[][] = []
  for (const { count, ...kind } of kinds) {
    const devices: MadeDevice[] = []
    while (devices.length < count) {
      const path = encodeURIComponent(deviceName(index++))
      const { body } = await service.admin('GET', `/devices/${path}`)
      devices.push({ device: body as DeviceRef, path, ...kind, endMs })
    }
    made.push(devices)
  }
  return made
}

/** The hourly view holds all that is seeded, and the service has seen that. */
async function untilViewFollows({ query }: BenchStore): Promise<void> {
  const sql = 'SELECT count() FROM materialized_views() WHERE refresh_base_table_txn = base_table_txn'
  while (Number((await query(sql))[0]?.[0]) === 0) await sleep(100)
  await sleep(lookMs)
}

interface Asked {
  readonly ms: number
  readonly text: string
}

/** Asks for an uncompressed answer and reads all of it. */
export async function ask(service: Service, path: string): Promise<Asked> {
  const startedMs = performance.now()
  const response = await fetch(`${service.url}/api/${path}`, { headers: { 'accept-encoding': 'identity' } })
  const text = await response.text()
  const ms = performance.now() - startedMs
  if (response.status !== 200) throw new Error(`${path} returned ${response.status}: ${text}`)
  return { ms, text }
}

const bodyBytes = 10 * 1024 * 1024
const dayMs = 86_400_000
const format = new RowFormat(readings)

/** Resolves when the rows are visible, with how many there are. */
async function seed(address: QuestdbAddress, all: readonly MadeSeries[]): Promise<number> {
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
