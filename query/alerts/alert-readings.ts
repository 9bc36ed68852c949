/** Entry point of this folder: stored readings of some devices by time, piece by piece, with the columns that rules look at. */

import type { Log } from '../../store/log.ts'
import type { Metric } from '../../store/tables.ts'
import { threadLimits } from '../../store/thread-limits.ts'
import type { AnswerCode } from '../cache/body.ts'
import { type ExportMetric, seriesTable } from '../export/series-table.ts'
import { defaultLimits } from '../limits.ts'
import { BodyInterrupted } from '../pieces.ts'
import { createAvailabilityLog, createPool, type Pool } from '../pool.ts'
import type { Replicas } from '../replicas.ts'
import type { AlertQueries, AlertReadings, AskedReadings, PackedPiece, WantedDevices } from './alert-queries.ts'

export interface AlertReadingsReader {
  /**
   * Reads the next piece while the caller handles one. Throws BodyInterrupted where QuestDB does not answer, or when
   * the signal aborts. Earlier pieces stay valid.
   */
  read(asked: AskedReadings, signal: AbortSignal): AsyncIterable<AlertReadings>
  /** Reads in progress fail. May be called twice. */
  close(): Promise<void>
}

export interface AlertReadingsOptions {
  readonly replicas: Replicas
  /** Limit of one piece, its wait for the thread included. */
  readonly timeoutMs: number
  readonly log: Log
  readonly pieceRows?: number
}

const pieceRowsUsual = 60_000
/** QuestDB limits an address, which contains the statement, to 64 KiB. */
const namedInSqlMax = 500
/** Each read asks for two pieces at a time. Previews, replays and recomputed histories share this queue. */
const queueMax = 16

export function createAlertReadings(options: AlertReadingsOptions): AlertReadingsReader {
  const { replicas, log, pieceRows: rowsMax = pieceRowsUsual } = options
  const pool = createReadingsPool(options)
  const logAvailability = createAvailabilityLog(log)

  async function run(query: AlertQueries['piece'], replica: number, signal: AbortSignal): Promise<PackedPiece> {
    if (!(await replicas.answers(replica))) throw new BodyInterrupted<AnswerCode>('DATABASE_AWAY')
    if (signal.aborted) throw new BodyInterrupted<AnswerCode>('CANCELLED')
    const asked = { ...query, replica }
    const result = await pool.run('piece', asked, signal)
    logAvailability(result)
    if (!result.ok) throw new BodyInterrupted<AnswerCode>(result.code)
    return result.encoded
  }

  async function* read(asked: AskedReadings, signal: AbortSignal): AsyncGenerator<AlertReadings, undefined> {
    const { devices, columns, fromUs, toUs } = asked
    if (devices.length === 0) return
    const replica = await replicas.choose()
    if (replica === undefined) throw new BodyInterrupted<AnswerCode>('DATABASE_AWAY')
    const query = {
      toUs,
      rowsMax,
      symbols: devices.length > namedInSqlMax ? undefined : devices.map(({ symbol }) => symbol),
      wanted: wantedOf(devices),
      metrics: columns.map(metricOf),
      series: seriesTable(seriesOf(asked)),
    }
    const readFrom = (nextUs: number) => {
      const piece = run({ ...query, fromUs: nextUs }, replica, signal)
      // It is awaited below, unless the caller leaves first.
      piece.catch(() => undefined)
      return piece
    }
    let next: Promise<PackedPiece> | undefined = readFrom(fromUs)
    while (next !== undefined) {
      const piece: PackedPiece = await next
      next = piece.nextUs === undefined ? undefined : readFrom(piece.nextUs)
      yield unpack(piece, columns.length)
    }
  }

  return { read, close: pool.close }
}

function createReadingsPool({ replicas, timeoutMs, log }: AlertReadingsOptions): Pool<AlertQueries, PackedPiece> {
  return createPool<AlertQueries, PackedPiece>({
    worker: new URL('./alert-readings-worker.ts', import.meta.url),
    settings: {
      replicas: replicas.addresses,
      timeZone: 'UTC',
      connectTimeoutMs: defaultLimits.connectTimeoutMs,
      statementTimeoutMs: timeoutMs,
      bodyBytesMax: defaultLimits.latestBytesMax,
      rowsMax: pieceRowsUsual,
    },
    threadsMax: 1,
    resourceLimits: threadLimits.analyses,
    queueMax,
    deadlineMs: timeoutMs,
    log,
  })
}

function wantedOf(devices: readonly AskedReadings['devices'][number][]): WantedDevices {
  const largest = devices.reduce((max, { number }) => Math.max(max, number), 0)
  const wanted = new Uint8Array(new SharedArrayBuffer(largest + 1))
  for (const { number } of devices) wanted[number] = 1
  return wanted
}

/** The name of a metric without a column is never read. */
function metricOf(column: Metric | undefined, index: number): ExportMetric {
  return { name: column ?? `series ${index}`, kind: 'gauge' }
}

function seriesOf({ devices, columns }: AskedReadings): number[] {
  const entries: number[] = []
  for (const [index, column] of columns.entries()) {
    if (column !== undefined) continue
    for (const { number, series } of devices) {
      const ofDevice = series[index]
      if (ofDevice !== undefined) entries.push(ofDevice, number, index)
    }
  }
  return entries
}

function unpack({ devices, times, values }: PackedPiece, columns: number): AlertReadings {
  const device = new Int32Array(devices.buffer, devices.byteOffset, devices.byteLength / Int32Array.BYTES_PER_ELEMENT)
  const { length } = device
  const bytes = length * Float64Array.BYTES_PER_ELEMENT
  const columnAt = (index: number) => new Float64Array(values.buffer, values.byteOffset + index * bytes, length)
  return {
    device,
    timesUs: new Float64Array(times.buffer, times.byteOffset, length),
    values: Array.from({ length: columns }, (_, index) => columnAt(index)),
    length,
  }
}
