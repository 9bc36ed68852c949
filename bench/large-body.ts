/**
 * Memory of the service's process during a body of a gigabyte, as CSV, as NDJSON, as a JSON array and as CSV that is
 * stored as a whole, after a smaller one that has started the threads. Also the delay of its event loop and the
 * longest turn of its main thread, in processor time, and both beside a small body that decompresses to one without
 * readings.
 *
 * Usage: node bench/large-body.ts [--bytes 1073741824]
 */

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { temporaryFolder } from '../test/support/databases.ts'
import { startBench } from './bounds.ts'
import { addKeys } from './bulk-load.ts'
import { type SentReading, sentReadings } from './fleet.ts'
import { type BulkFormat, bulkFormats } from './ingest-formats.ts'
import { forgetPeak, residentMegabytes, round } from './measure.ts'
import { startBenchService } from './service.ts'

const { values: options } = parseArgs({ options: { bytes: { type: 'string', default: String(2 ** 30) } } })
const bytesMin = Number(options.bytes)
const deviceCount = 1000
const readingsPerPiece = 10_000
/** No format takes fewer. */
const bytesPerReadingMin = 64
const stepMs = 60_000
const megabytesMax = 150
const warmUpBytes = 50_000_000
/** Each of the formats, and one that is stored as a whole. */
const bodies = {
  csv: { format: 'csv', query: '' },
  ndjson: { format: 'ndjson', query: '' },
  json: { format: 'json', query: '' },
  'strict csv': { format: 'csv', query: '?strict=1' },
}
const idleMs = 5_000
/** The probe has written its measurements to its file by then. */
const turnProbeMs = 700
/** The gzip of the blanks has about 195 kB. */
const blankBytes = 200_000_000

const { hooks, bounds, run } = startBench()

/** Each run's readings are older than the next run's. */
function* piecesOf(run: number): Generator<SentReading[]> {
  const rows = Math.ceil(bytesMin / bytesPerReadingMin)
  const spanMs = Math.ceil(rows / deviceCount) * stepMs
  const startMs = Date.now() - (Object.keys(bodies).length + 1 - run) * spanMs
  let piece: SentReading[] = []
  for (const reading of sentReadings({
    devices: deviceCount,
    rows,
    seed: 1,
    order: 'time',
    startMs,
    endMs: startMs + spanMs,
  })) {
    piece.push(reading)
    if (piece.length < readingsPerPiece) continue
    yield piece
    piece = []
  }
}

/** The part of the body that `written` begins with. The JSON array and the header of CSV belong to the whole. */
function textOf(name: string, { body }: BulkFormat, readings: SentReading[], isFirst: boolean): string {
  const text = body(readings)
  if (name === 'json') return `${isFirst ? '[' : ','}${text.slice(1, -1)}`
  return name === 'csv' && !isFirst ? text.slice(text.indexOf('\n') + 1) : text
}

interface Posted {
  bytes: number
  readings: number
  stored: number
}

interface Target {
  port: number
  key: string
  bytesMin: number
}

async function post(body: keyof typeof bodies, run: number, { port, key, bytesMin }: Target): Promise<Posted> {
  const { format: name, query } = bodies[body]
  const format = bulkFormats[name] as BulkFormat
  const headers = { authorization: `Bearer ${key}`, 'content-type': format.contentType }
  const sent = request({ host: '127.0.0.1', port, path: `${format.path}${query}`, method: 'POST', headers })
  const answered = once(sent, 'response')
  let bytes = 0
  let readings = 0
  for (const piece of piecesOf(run)) {
    const part = Buffer.from(textOf(name, format, piece, bytes === 0))
    bytes += part.length
    readings += piece.length
    if (!sent.write(part)) await once(sent, 'drain')
    if (bytes >= bytesMin) break
  }
  sent.end(name === 'json' ? ']' : '')
  const [response] = await answered
  const answer = (await json(response)) as { stored?: number }
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${JSON.stringify(answer)}`)
  return { bytes, readings, stored: answer.stored ?? 0 }
}

/** Returns the delay in milliseconds since the last request for it. */
async function eventLoopDelay(port: number): Promise<{ eventLoopP99Ms: number; eventLoopMaxMs: number }> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const ms = (figure: string) => {
    return round(Number(new RegExp(`^nodejs_eventloop_lag_${figure}_seconds (\\S+)$`, 'm').exec(text)?.[1]) * 1000)
  }
  return { eventLoopP99Ms: ms('p99'), eventLoopMaxMs: ms('max') }
}

/** Reads, each time it is called, the longest turn of the main thread since the call before, milliseconds of processor time. */
function longestTurns(path: string): () => Promise<{ longestTurnCpuMs: number }> {
  let seen = 0
  return async () => {
    await sleep(turnProbeMs)
    const lines = readFileSync(path, 'utf8').trim().split('\n')
    const longestTurnCpuMs = Math.max(0, ...lines.slice(seen).map(Number))
    seen = lines.length
    return { longestTurnCpuMs }
  }
}

/** The effect of such a body on other requests. */
async function postBlank({ port, key }: Omit<Target, 'bytesMin'>): Promise<object> {
  const body = gzipSync(`[${' '.repeat(blankBytes)}]`)
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-encoding': 'gzip' }
  const startedMs = performance.now()
  const { status } = await fetch(`http://127.0.0.1:${port}/api/log/batch`, { method: 'POST', headers, body })
  const seconds = round((performance.now() - startedMs) / 1000)
  bounds.must('a body without readings is refused', status === 400)
  return { bytes: body.length, seconds, ...(await eventLoopDelay(port)) }
}

async function bench(): Promise<void> {
  const turnsPath = join(temporaryFolder(hooks), 'turns')
  const settings = {
    BATCH_BYTES_MAX: '2GiB',
    NODE_OPTIONS: `--import=${join(import.meta.dirname, 'turn-probe.ts')}`,
    TURN_PROBE_FILE: turnsPath,
  }
  const { store, service, port, environment } = await startBenchService(hooks, deviceCount, settings)
  const [key = ''] = await addKeys(environment['DATABASE_URL'] ?? '', 1)
  const pid = service.child.pid ?? 0
  // The threads start, and reach the size that they keep.
  let expected = (await post('csv', 0, { port, key, bytesMin: Math.min(bytesMin, warmUpBytes) })).readings
  const longestTurn = longestTurns(turnsPath)
  await eventLoopDelay(port)
  await longestTurn()
  await sleep(idleMs)
  const idle = { ...(await eventLoopDelay(port)), ...(await longestTurn()) }
  for (const [run, name] of (Object.keys(bodies) as (keyof typeof bodies)[]).entries()) {
    forgetPeak(pid)
    await eventLoopDelay(port)
    await longestTurn()
    const before = residentMegabytes(pid).now
    const startedMs = performance.now()
    const { bytes, readings, stored } = await post(name, run + 1, { port, key, bytesMin })
    const seconds = (performance.now() - startedMs) / 1000
    const { peak } = residentMegabytes(pid)
    expected += readings
    bounds.must(`${name}: all readings of the body are stored`, stored === readings)
    bounds.atMost(
      `${name}: memory beside a body of ${round(bytes / 2 ** 30)} GiB, megabytes`,
      peak - before,
      megabytesMax,
      {
        beforeMegabytes: before,
        peakMegabytes: peak,
        readings,
        seconds: round(seconds),
        megabytesPerSecond: round(bytes / 1e6 / seconds),
        ...(await eventLoopDelay(port)),
        ...(await longestTurn()),
      },
    )
  }
  await eventLoopDelay(port)
  await longestTurn()
  const blank = { ...(await postBlank({ port, key })), ...(await longestTurn()) }
  const shown = await store.countRows(expected)
  bounds.must('QuestDB shows each once', shown === expected)
  bounds.conclude({ bench: 'large-body', shown, idle, blank })
}

await run(bench)
