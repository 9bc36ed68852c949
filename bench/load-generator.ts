/**
 * A load generator in a separate process: keep-alive connections, each with one request outstanding. It uses plain
 * sockets, because it shares the machine with the measured service. The parent sends a `LoadOrder` and gets a
 * `LoadResult`.
 */

import { connect, type Socket } from 'node:net'
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'

export interface LoadOrder {
  host: string
  port: number
  connections: number
  seconds: number
  /** Whole requests, taken in turns. */
  requests: string[]
  /**
   * Total requests per second, evenly spread over time and independent of the answers: the latency counts from the due
   * time of a request. undefined sends the next request when the last one is answered.
   */
  perSecond?: number
}

export interface LoadResult {
  answers: number
  /** Answers by status. */
  statuses: Record<string, number>
  elapsedSeconds: number
  p50Ms: number
  p95Ms: number
  p99Ms: number
  maxMs: number
}

const headerEnd = Buffer.from('\r\n\r\n')

/** Length of the first whole answer in the bytes, or 0. */
function answerLength(bytes: Buffer): number {
  const end = bytes.indexOf(headerEnd)
  if (end === -1) return 0
  const length = /content-length: (\d+)/i.exec(bytes.toString('latin1', 0, end))?.[1]
  if (length === undefined) throw new Error(`an answer without a length: ${bytes.toString('latin1')}`)
  const whole = end + headerEnd.length + Number(length)
  return bytes.length >= whole ? whole : 0
}

/** Shared by all connections of a run. */
interface Run {
  order: LoadOrder
  requests: Buffer[]
  sent: number
  answers: number
  statuses: Record<string, number>
  /** Microseconds. */
  latencies: RecordableHistogram
  startedMs: number
  endMs: number
}

/** The due time of a run's next request. */
function dueMs({ order, sent, startedMs }: Run): number {
  return order.perSecond === undefined ? performance.now() : startedMs + (sent * 1000) / order.perSecond
}

/**
 * Opens a connection and waits for a response, which shows that it is accepted. Accepting a thousand takes a tenth of
 * a second that must not be measured.
 */
function open({ host, port }: LoadOrder): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true })
    socket.write(`GET / HTTP/1.1\r\nhost: ${host}\r\n\r\n`)
    let bytes = Buffer.alloc(0)
    socket.on('data', function take(piece: Buffer) {
      bytes = Buffer.concat([bytes, piece])
      if (answerLength(bytes) === 0) return
      socket.off('data', take)
      socket.off('error', reject)
      resolve(socket)
    })
    socket.on('error', reject)
  })
}

/** One connection: a request, its answer, the next request, until the time is over. */
function drive(run: Run, socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    let fromMs = 0
    let pending: Buffer | undefined
    const sendNow = () => socket.write(run.requests[run.sent % run.requests.length] as Buffer)
    const send = () => {
      fromMs = dueMs(run)
      const waitMs = fromMs - performance.now()
      if (waitMs <= 0) sendNow()
      else setTimeout(sendNow, waitMs)
      run.sent++
    }
    socket.on('error', reject)
    socket.on('close', () => resolve())
    socket.on('data', piece => {
      const bytes = pending === undefined ? piece : Buffer.concat([pending, piece])
      const isWhole = answerLength(bytes) > 0
      pending = isWhole ? undefined : bytes
      if (!isWhole) return
      const nowMs = performance.now()
      note(run, bytes, nowMs - fromMs)
      if (nowMs >= run.endMs) socket.end()
      else send()
    })
    send()
  })
}

function note(run: Run, answer: Buffer, elapsedMs: number): void {
  run.latencies.record(Math.max(1, Math.round(elapsedMs * 1000)))
  const status = answer.toString('latin1', 9, 12)
  run.statuses[status] = (run.statuses[status] ?? 0) + 1
  run.answers++
}

async function runLoad(order: LoadOrder): Promise<LoadResult> {
  const sockets = await Promise.all(Array.from({ length: order.connections }, () => open(order)))
  const startedMs = performance.now()
  const run: Run = {
    order,
    requests: order.requests.map(text => Buffer.from(text)),
    sent: 0,
    answers: 0,
    statuses: {},
    latencies: createHistogram(),
    startedMs,
    endMs: startedMs + order.seconds * 1000,
  }
  await Promise.all(sockets.map(socket => drive(run, socket)))
  return {
    answers: run.answers,
    statuses: run.statuses,
    elapsedSeconds: (performance.now() - startedMs) / 1000,
    p50Ms: run.latencies.percentile(50) / 1000,
    p95Ms: run.latencies.percentile(95) / 1000,
    p99Ms: run.latencies.percentile(99) / 1000,
    maxMs: run.latencies.max / 1000,
  }
}

// The parent may be killed.
process.once('disconnect', () => process.exit())
process.on('message', (order: LoadOrder) => {
  runLoad(order).then(
    result => process.send?.(result),
    (error: Error) => {
      process.stderr.write(`${error.stack}\n`)
      process.exit(1)
    },
  )
})
