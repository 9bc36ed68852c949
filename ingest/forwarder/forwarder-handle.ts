/** The forwarder's thread as its owner sees it. */

import { MessageChannel, type MessagePort, receiveMessageOnPort, type Transferable, Worker } from 'node:worker_threads'
import type { Log } from '../../store/log.ts'
import { threadLimits } from '../../store/thread-limits.ts'
import type { TableDescription } from '../table.ts'
import type { ForwarderCommand, ForwarderMessage, ForwarderStart, ForwarderThreadData } from './forwarder-messages.ts'
import type { ForwarderStatus } from './forwarder-status.ts'
import { type SentEvent, SentWatermark } from './sent-watermark.ts'

export interface ForwarderHandleOptions<Source> {
  /** The module that the thread runs, which knows this kind of source. */
  module: URL
  table: TableDescription
  source: Source
  /** Ports that are in the source. */
  transferList?: readonly Transferable[]
  revisions: Int32Array
  /** Until the thread has one. */
  status: ForwarderStatus
  onStatus?: (status: ForwarderStatus) => void
  log: Log
  /** Called when the thread has died. */
  onFatal: (error: Error) => void
}

export interface ForwarderHandle {
  /** QuestDB is there, and we know whether it syncs what it applies. */
  start(options: ForwarderStart): void
  status(): ForwarderStatus
  /** As `Forwarder.erase` has it; `before` is a point of the source. */
  erase(seriesNumbers: readonly number[], before: number): Promise<string[]>
  hold(): Promise<void>
  release(): void
  /** Sends nothing, or goes on. */
  pause(isPaused: boolean): void
  /** Sends again what stands at the position or behind it. */
  rewind(position: number, reason: string): void
  /**
   * Dead letters were removed by others; the thread removes what is left of them. Resolves when it has, durably, or when it has
   * ended.
   */
  lettersRemoved(ids: readonly number[]): Promise<void>
  oldestSentSince(txn: number): number
  onLost(listener: (reason: string) => void): void
  /** Aborted, it waits for no request in flight. */
  stop(isAborted?: boolean): Promise<void>
}

/** How the forwarder sends; a request of this size holds some 70,000 rows. */
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
      holds.held()
    } else if (message.kind === 'log') {
      log[message.level](message.fields, message.text)
    }
  })
  thread.on('error', options.onFatal)
  // Registered early, for the thread may die long before the stop.
  const exited = new Promise(resolve => thread.once('exit', resolve))
  const command = (message: ForwarderCommand) => thread.postMessage(message)
  /** At once, as the thread says so later. */
  const goBack = (position: number) => {
    status = { ...status, recorded: Math.min(status.recorded ?? position, position) }
  }
  const holds = createHolds(command)
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
    hold: holds.hold,
    release: holds.release,
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

interface Answers<Answer> {
  /** `send` sends the command with this id. Resolves with the answer of the thread. */
  ask(send: (id: number) => void): Promise<Answer>
  answered(id: number, answer: Answer): void
}

/** Commands to the forwarder's thread that it answers, each by an id. */
function createAnswers<Answer>(): Answers<Answer> {
  /** Resolvers of the pending calls: erase jobs run one after the other, and operators remove dead letters, so they are few. */
  const waiting = new Map<number, (answer: Answer) => void>()
  let nextId = 0
  return {
    ask(send) {
      const id = nextId++
      const answer = new Promise<Answer>(resolve => waiting.set(id, resolve))
      send(id)
      return answer
    },
    answered(id, answer) {
      waiting.get(id)?.(answer)
      waiting.delete(id)
    },
  }
}

interface Holds {
  hold(): Promise<void>
  release(): void
  /** The forwarder's thread holds. */
  held(): void
}

/** Has the forwarder's thread send nothing for a while. */
function createHolds(command: (message: ForwarderCommand) => void): Holds {
  let onHeld: () => void = () => undefined
  return {
    hold() {
      const held = new Promise<void>(resolve => {
        onHeld = resolve
      })
      command({ kind: 'hold' })
      return held
    },
    release: () => command({ kind: 'release' }),
    held: () => onHeld(),
  }
}

interface SentPort {
  /** Takes SentEvent. For the forwarder's thread. */
  readonly port: MessagePort
  /** Called when QuestDB may have lost what it had applied. */
  readonly lostListeners: ((reason: string) => void)[]
  /** Applies the queued events, so that the queue stays short. */
  drain(): void
  oldestSince(txn: number): number
  close(): void
}

/** Carries SentEvents from the forwarder's thread to main, which has them before a query can see the rows. */
function openSentPort(): SentPort {
  const { port1, port2 } = new MessageChannel()
  const watermark = new SentWatermark()

  /** Synchronously: a message event would come only when main is idle. */
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
