/** The interface of the forwarder's thread to its owner. */

import { MessageChannel, type MessagePort, receiveMessageOnPort, type Transferable, Worker } from 'node:worker_threads'
import type { Log } from '../../store/log.ts'
import { threadLimits } from '../../store/thread-limits.ts'
import type { TableDescription } from '../table.ts'
import type {
  ForwarderCommand,
  ForwarderMessage,
  ForwarderStart,
  ForwarderStatus,
  ForwarderThreadData,
} from './forwarder-status.ts'
import { type SentEvent, SentWatermark } from './sent-watermark.ts'

export interface ForwarderHandleOptions<Source> {
  /** The thread's module, which knows this kind of source. */
  module: URL
  table: TableDescription
  source: Source
  /** Ports in the source. */
  transferList?: readonly Transferable[]
  revisions: Int32Array
  /** Status until the thread reports its own. */
  status: ForwarderStatus
  onStatus?: (status: ForwarderStatus) => void
  log: Log
  /** Called when the thread has died. */
  onFatal: (error: Error) => void
}

export interface ForwarderHandle {
  /** Starts forwarding once QuestDB is reachable and its commit mode is known. */
  start(options: ForwarderStart): void
  status(): ForwarderStatus
  /** See `Forwarder.erase`. `before` is a position of the source. */
  erase(seriesNumbers: readonly number[], before: number): Promise<string[]>
  hold(): Promise<void>
  release(): void
  /** Pauses or resumes sending. */
  pause(isPaused: boolean): void
  /** Sends records from the position on again. */
  rewind(position: number, reason: string): void
  /**
   * Reports dead letters removed by others. The thread removes their remains. Resolves when that is durable, or when the thread
   * has ended.
   */
  lettersRemoved(ids: readonly number[]): Promise<void>
  oldestSentSince(txn: number): number
  onLost(listener: (reason: string) => void): void
  /** Does not wait for requests in flight if `isAborted` is true. */
  stop(isAborted?: boolean): Promise<void>
}

/** Sizes of requests; one of this size holds some 70,000 rows. */
const requests = {
  requestBytes: 12 * 1024 * 1024,
  connectionCount: 2,
  paceMs: 500,
  quiesceMs: 3000,
  requestIdleMs: 30_000,
}

export function startForwarder<Source>(options: ForwarderHandleOptions<Source>): ForwarderHandle {
  const { module, table, source, transferList = [], revisions, onStatus, log } = options
  const sent = openSentPort()
  let status = options.status
  const workerData: ForwarderThreadData<Source> = { table, source, revisions, sentPort: sent.port, ...requests }
  const thread = new Worker(module, {
    name: 'forwarder',
    workerData,
    transferList: [sent.port, ...transferList],
    resourceLimits: threadLimits.forwarder,
  })
  thread.on('message', (message: ForwarderMessage) => {
    if (message.kind === 'status') {
      sent.drain()
      status = message.status
      onStatus?.(status)
    } else if (message.kind === 'fileIssue') {
      status = { ...status, fileIssue: message.issue }
    } else if (message.kind === 'erased') {
      erasures.answered(message.id, message.damaged)
    } else if (message.kind === 'lettersGone') {
      removals.answered(message.id, undefined)
    } else if (message.kind === 'held') {
      onHeld()
    } else if (message.kind === 'log') {
      log[message.level](message.fields, message.text)
    }
  })
  thread.on('error', options.onFatal)
  // Registered early, since the thread may die long before the stop.
  const exited = new Promise(resolve => thread.once('exit', resolve))
  const command = (message: ForwarderCommand) => thread.postMessage(message)
  /** Takes effect at once, since the thread reports it later. */
  const goBack = (position: number) => {
    status = { ...status, recorded: Math.min(status.recorded ?? position, position) }
  }
  let onHeld: () => void = () => undefined
  const erasures = createAnswers<string[]>()
  const removals = createAnswers<void>()

  return {
    start(start) {
      if (start.place?.from !== undefined) goBack(start.place.from)
      command({ kind: 'start', ...start })
    },
    status: () => status,
    erase: (seriesNumbers, before) =>
      erasures.ask(id => command({ kind: 'erase', id, seriesNumbers: [...seriesNumbers], before })),
    hold() {
      const held = Promise.withResolvers<void>()
      onHeld = held.resolve
      command({ kind: 'hold' })
      return held.promise
    },
    release: () => command({ kind: 'release' }),
    pause: isPaused => command({ kind: 'pause', isPaused }),
    rewind(position, reason) {
      goBack(position)
      command({ kind: 'rewind', position, reason })
    },
    async lettersRemoved(ids) {
      await Promise.race([removals.ask(id => command({ kind: 'lettersRemoved', id, ids: [...ids] })), exited])
    },
    oldestSentSince: sent.oldestSince,
    onLost: listener => void sent.lostListeners.push(listener),
    async stop(isAborted = false) {
      command({ kind: 'stop', isAborted })
      await exited
      sent.close()
    },
  }
}

/** Commands to the forwarder's thread with answers, matched by an id. */
function createAnswers<Answer>() {
  /** Resolvers of the pending calls. They are few: erase jobs run in turn, and operators remove dead letters. */
  const waiting = new Map<number, (answer: Answer) => void>()
  let nextId = 0
  return {
    /** `send` sends the command with this id. Resolves with the thread's answer. */
    ask(send: (id: number) => void): Promise<Answer> {
      const id = nextId++
      const answer = new Promise<Answer>(resolve => waiting.set(id, resolve))
      send(id)
      return answer
    },
    answered(id: number, answer: Answer): void {
      waiting.get(id)?.(answer)
      waiting.delete(id)
    },
  }
}

interface SentPort {
  /** Receives SentEvent. For the forwarder's thread. */
  readonly port: MessagePort
  /** Called when QuestDB may have lost applied rows. */
  readonly lostListeners: ((reason: string) => void)[]
  /** Applies the queued events, so that the queue stays short. */
  drain(): void
  oldestSince(txn: number): number
  close(): void
}

/** Passes SentEvents from the forwarder's thread to the main thread, before a query can see the rows. */
function openSentPort(): SentPort {
  const { port1, port2 } = new MessageChannel()
  const watermark = new SentWatermark()

  /** Synchronous: a message event would arrive only when the main thread is idle. */
  function drain(): void {
    for (let received = receiveMessageOnPort(port1); received !== undefined; received = receiveMessageOnPort(port1)) {
      const event: SentEvent = received.message
      watermark.apply(event)
      if (event.kind !== 'lost') continue
      for (const listener of sentPort.lostListeners) listener(event.reason)
    }
  }

  const sentPort: SentPort = {
    port: port2,
    lostListeners: [],
    drain,
    oldestSince(txn) {
      drain()
      return watermark.oldestSince(txn)
    },
    close: () => port1.close(),
  }
  return sentPort
}
