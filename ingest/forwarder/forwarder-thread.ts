/** The forwarder's thread: reading, encoding and sending take nothing from the thread that answers requests. */

import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { Log } from '../../store/log.ts'
import type { QuestdbHttp } from '../../store/questdb/client/questdb-address.ts'
import { readCheckpoint } from '../journal/checkpoint.ts'
import { openDisk } from '../journal/disk.ts'
import type { TableDescription } from '../table.ts'
import { systemTiming } from '../timing.ts'
import { Forwarder } from './forwarder.ts'
import type { ForwarderStatus } from './forwarder-status.ts'
import { isSystemError } from './issue-log.ts'
import { connectQuestdb } from './questdb.ts'
import { replayStart } from './segment-retention.ts'

export interface ForwarderThreadData {
  table: TableDescription
  directory: string
  durableEnd: BigInt64Array
  end: { position: number; ordinal: number }
  revisions: Int32Array
  /** Takes SentEvent. */
  sentPort: MessagePort
  requestBytes: number
  connectionCount: number
  paceMs: number
  quiesceMs: number
  /** A request is aborted when nothing of it has moved for so long. */
  requestIdleMs: number
}

/**
 * `start` comes once QuestDB is there and we know whether it syncs what it applies. `erase` is answered with `erased`, and
 * `hold` with `held`, unless `release` comes first.
 */
export type ForwarderCommand =
  | {
      kind: 'start'
      questdb: QuestdbHttp
      isSynced: boolean
      furtherSeries: Uint32Array
      keepMs: number
      keepBytesMax: number
    }
  | { kind: 'lettersRemoved'; ids: number[] }
  | { kind: 'erase'; id: number; seriesNumbers: number[]; before: number }
  | { kind: 'hold' }
  | { kind: 'release' }
  | { kind: 'stop' }
export type ForwarderMessage =
  | { kind: 'status'; status: ForwarderStatus }
  | { kind: 'fileIssue'; issue: string }
  | { kind: 'erased'; id: number }
  | { kind: 'held' }
  | { kind: 'log'; level: 'info' | 'warn' | 'error'; fields: object; text: string }
  | { kind: 'stopped' }

const data: ForwarderThreadData = workerData
const startAgainMs = 1000
const forwarder = Promise.withResolvers<Forwarder>()
let started: Forwarder | undefined
let startTimer: NodeJS.Timeout | undefined
let isHeld = false

function send(message: ForwarderMessage): void {
  parentPort?.postMessage(message)
}

function logAt(level: 'info' | 'warn' | 'error') {
  return (fields: object, text: string) => send({ kind: 'log', level, fields, text })
}
const log = { info: logAt('info'), warn: logAt('warn'), error: logAt('error') } as Log

/** A system error, such as too many open files, is reported and tried again; any other error is a bug. */
function start(options: Extract<ForwarderCommand, { kind: 'start' }>): void {
  try {
    started = createForwarder(options)
  } catch (error) {
    if (!isSystemError(error)) throw error
    send({ kind: 'fileIssue', issue: `the journal cannot be read: ${error.message}` })
    startTimer = setTimeout(() => start(options), startAgainMs)
    return
  }
  started.run()
  forwarder.resolve(started)
}

function createForwarder(options: Extract<ForwarderCommand, { kind: 'start' }>): Forwarder {
  const { directory, durableEnd, end, connectionCount, requestIdleMs } = data
  const disk = openDisk(directory)
  const connect = () => connectQuestdb(options.questdb, requestIdleMs)
  // A QuestDB that does not sync may have lost, while we were away, what it had applied.
  const mayHaveLost = !options.isSynced && options.keepMs > 0
  const from = mayHaveLost
    ? replayStart({ disk, timing: systemTiming, keepMs: options.keepMs }, end.position)
    : readCheckpoint(disk, end.position)
  return new Forwarder({
    table: data.table,
    disk,
    // One more for the backfill lane, and one for small queries.
    connections: Array.from({ length: connectionCount + 2 }, connect),
    requestBytes: data.requestBytes,
    durableEnd: () => Number(Atomics.load(durableEnd, 0)),
    from,
    endOrdinal: end.ordinal,
    paceMs: data.paceMs,
    quiesceMs: data.quiesceMs,
    isSynced: options.isSynced,
    furtherSeries: options.furtherSeries,
    keepMs: options.keepMs,
    keepBytesMax: options.keepBytesMax,
    revisions: data.revisions,
    onSent: event => data.sentPort.postMessage(event),
    nowMs: Date.now,
    timing: systemTiming,
    log,
    onStatus: createStatusSender(),
  })
}

/** The status goes out when it changed. */
function createStatusSender() {
  let last = ''
  return (status: ForwarderStatus) => {
    const text = JSON.stringify(status)
    if (text === last) return
    last = text
    send({ kind: 'status', status })
  }
}

async function erase({ id, seriesNumbers, before }: Extract<ForwarderCommand, { kind: 'erase' }>): Promise<void> {
  if (await (await forwarder.promise).erase(seriesNumbers, before)) send({ kind: 'erased', id })
}

async function hold(): Promise<void> {
  isHeld = true
  const created = await forwarder.promise
  if (isHeld && (await created.hold())) send({ kind: 'held' })
}

function release(): void {
  isHeld = false
  started?.release()
}

async function stop(): Promise<void> {
  clearTimeout(startTimer)
  await started?.close()
  send({ kind: 'stopped' })
  parentPort?.close()
}

parentPort?.on('message', (message: ForwarderCommand) => {
  if (message.kind === 'start') start(message)
  else if (message.kind === 'lettersRemoved') void started?.removedDeadLetters(message.ids)
  else if (message.kind === 'erase') void erase(message)
  else if (message.kind === 'hold') void hold()
  else if (message.kind === 'release') release()
  else void stop()
})
