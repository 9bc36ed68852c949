/** Runs the forwarder in a separate thread: reading, encoding and sending do not load the thread that answers requests. */

import { parentPort } from 'node:worker_threads'
import type { Log } from '../../store/log.ts'
import { systemTiming } from '../timing.ts'
import { Forwarder } from './forwarder.ts'
import type {
  ForwarderCommand,
  ForwarderMessage,
  ForwarderStart,
  ForwarderStatus,
  ForwarderThreadData,
} from './forwarder-status.ts'
import type { GroupSource } from './group-source.ts'
import { isSystemError } from './issue-log.ts'
import { connectQuestdb } from './questdb.ts'

const startAgainMs = 1000

/** Receives the commands of this thread's owner. */
export function runForwarder(data: ForwarderThreadData<unknown>, openSource: () => GroupSource): void {
  const forwarder = Promise.withResolvers<Forwarder>()
  let source: GroupSource | undefined
  let started: Forwarder | undefined
  let startTimer: NodeJS.Timeout | undefined
  let isHeld = false

  /** A system error, such as too many open files, is reported and retried. Any other error is a bug. */
  function start(options: ForwarderStart): void {
    try {
      source ??= openSource()
      started = createForwarder(data, source, options)
    } catch (error) {
      if (!isSystemError(error)) throw error
      send({ kind: 'fileIssue', issue: `the journal cannot be read: ${error.message}` })
      startTimer = setTimeout(() => start(options), startAgainMs)
      return
    }
    started.run()
    forwarder.resolve(started)
  }

  async function erase({ id, seriesNumbers, before }: Extract<ForwarderCommand, { kind: 'erase' }>): Promise<void> {
    const created = await forwarder.promise
    const position = (source as GroupSource).erase(seriesNumbers, before)
    const damaged = await created.erase(seriesNumbers, position)
    if (damaged !== undefined) send({ kind: 'erased', id, damaged })
  }

  /** This thread rewrites no dead letters before the start. */
  async function removeLetters({ id, ids }: Extract<ForwarderCommand, { kind: 'lettersRemoved' }>): Promise<void> {
    await started?.removedDeadLetters(ids)
    send({ kind: 'lettersGone', id })
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

  async function rewind({ position, reason }: Extract<ForwarderCommand, { kind: 'rewind' }>): Promise<void> {
    const created = await forwarder.promise
    created.rewind(position, reason)
  }

  async function stop(isAborted: boolean): Promise<void> {
    clearTimeout(startTimer)
    await started?.close(isAborted)
    source?.close()
    send({ kind: 'stopped' })
    parentPort?.close()
  }

  parentPort?.on('message', (message: ForwarderCommand) => {
    if (message.kind === 'start') start(message)
    else if (message.kind === 'lettersRemoved') void removeLetters(message)
    else if (message.kind === 'erase') void erase(message)
    else if (message.kind === 'hold') void hold()
    else if (message.kind === 'release') release()
    else if (message.kind === 'pause') void forwarder.promise.then(created => created.pause(message.isPaused))
    else if (message.kind === 'rewind') void rewind(message)
    else void stop(message.isAborted)
  })
}

function send(message: ForwarderMessage): void {
  parentPort?.postMessage(message)
}

function logAt(level: 'info' | 'warn' | 'error') {
  return (fields: object, text: string) => send({ kind: 'log', level, fields, text })
}

/** Logger for code in this thread. */
export const threadLog = { info: logAt('info'), warn: logAt('warn'), error: logAt('error') } as Log

function createForwarder(data: ForwarderThreadData<unknown>, source: GroupSource, options: ForwarderStart): Forwarder {
  const { connectionCount, requestIdleMs } = data
  const connect = () => source.guard(connectQuestdb(options.questdb, requestIdleMs))
  const begin = source.start(options.isSynced ? 0 : options.keepMs)
  const { place } = options
  const from = Math.min(begin, place?.from ?? begin)
  const sendStatus = createStatusSender()
  return new Forwarder({
    table: data.table,
    disk: source.disk,
    // One more for the backfill lane, and one for small queries.
    connections: Array.from({ length: connectionCount + 2 }, connect),
    requestBytes: data.requestBytes,
    durableEnd: source.durableEnd,
    untilEndMoves: source.untilEndMoves,
    from,
    predecessorMs: source.predecessorMs(from),
    endOrdinal: source.endOrdinal,
    letterId: source.letterId,
    positions: place && { id: place.id, placeOf: source.placeOf, place: source.firstPlace(from) },
    paceMs: data.paceMs,
    quiesceMs: data.quiesceMs,
    isSynced: options.isSynced,
    customSeries: options.customSeries,
    keepMs: options.keepMs,
    keepBytesMax: options.keepBytesMax,
    revisions: data.revisions,
    onSent(event) {
      data.sentPort.postMessage(event)
      source.onSent(event)
    },
    nowMs: Date.now,
    timing: systemTiming,
    log: threadLog,
    onStatus(status) {
      source.onStatus(status)
      sendStatus(status)
    },
  })
}

/** Sends the status when it has changed. */
function createStatusSender() {
  let last = ''
  return (status: ForwarderStatus) => {
    const text = JSON.stringify(status)
    if (text === last) return
    last = text
    send({ kind: 'status', status })
  }
}
