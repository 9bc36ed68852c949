/** Forwards the topics of a replica while this process holds it, and stands by otherwise. */

import { setTimeout as sleep } from 'node:timers/promises'
import { isUnavailable } from '../../../store/postgres/postgres-errors.ts'
import { messageOf } from '../client/errors.ts'
import type { ForwardStatus } from '../state/forward-status.ts'
import { TooManyLetters } from '../state/letters.ts'
import type { HeldReplica } from '../state/lock.ts'
import type { TopicSettler } from '../state/settle.ts'
import { LostReplica, type ReplicaState, type ReplicaTenure } from '../state/state.ts'
import { TopicForwarder, type TopicForwarderOptions } from './forwarder.ts'
import type { ForwardedTopic, QuestdbStart } from './thread.ts'

export interface ReplicaForwarder {
  /** Undefined on standby. */
  status(): { topic: string; status: ForwardStatus }[] | undefined
  /** Stops after the requests in flight, commits applied offsets and releases the replica. It may be called twice. */
  close(): Promise<void>
}

export function startReplicaForwarder(options: ReplicaForwarderOptions): ReplicaForwarder {
  const { acquire, onFatal } = options
  const closing = new AbortController()
  let forwarded: ForwardedReplica | undefined

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      const held = await acquire(closing.signal)
      forwarded = new ForwardedReplica(options, held, closing.signal)
      await forwarded.run()
      forwarded = undefined
    }
  }

  const running = run().catch((error: Error) => {
    if (error !== closing.signal.reason) onFatal(error)
  })
  return {
    status: () => forwarded?.status(),
    async close() {
      closing.abort()
      await running
    },
  }
}

interface ReplicaForwarderOptions
  extends Pick<TopicForwarderOptions, 'kafka' | 'bytesMax' | 'reserveBytes' | 'keepMs' | 'log' | 'onFatal'> {
  topics: readonly ForwardedTopic[]
  /** Resolves when this process has the replica. Rejects when the signal aborts. */
  acquire: (signal: AbortSignal) => Promise<HeldReplica>
  createState: (tenure: ReplicaTenure | undefined) => ReplicaState
  /** Resolves with the present QuestDB for this topic, once it is reachable. */
  openQuestdb: (topic: string) => Promise<QuestdbStart>
  /** See TopicForwarderOptions. */
  settle: TopicSettler['settle']
}

interface Forwarded {
  topic: string
  forwarder: TopicForwarder
}

const tickMs = 1000
const retryMs = 1000

class ForwardedReplica {
  readonly #options: ReplicaForwarderOptions
  readonly #held: HeldReplica
  readonly #closing: AbortSignal
  readonly #state: ReplicaState
  readonly #forwarded: Forwarded[]
  readonly #lost = new AbortController()
  /** Aborts when the replica is lost or has to be released. */
  readonly #ended: AbortSignal

  constructor(options: ReplicaForwarderOptions, held: HeldReplica, closing: AbortSignal) {
    const { topics, createState, openQuestdb, settle } = options
    this.#options = options
    this.#held = held
    this.#closing = closing
    this.#ended = AbortSignal.any([this.#lost.signal, closing])
    this.#state = createState(held)
    this.#forwarded = topics.map(forwarded => {
      const { topic } = forwarded
      const open = () => unlessAborted(this.#ended, openQuestdb(topic))
      const own = { openQuestdb: open, settle }
      const given = { ...options, ...forwarded, ...own, replica: held, state: this.#state }
      return { topic, forwarder: new TopicForwarder(given) }
    })
  }

  status(): { topic: string; status: ForwardStatus }[] {
    return this.#forwarded.map(({ topic, forwarder }) => ({ topic, status: forwarder.status() }))
  }

  /** Resolves when nothing is sent any more, and the final state is in PostgreSQL. */
  async run(): Promise<void> {
    this.#held.onLost(reason => this.#lose(reason))
    const ticking = this.#forwarded.map(each => this.#tickUntilEnded(each).catch(error => this.#fail(error)))
    await aborted(this.#ended)
    if (this.#lost.signal.aborted) await this.#leave()
    else await this.#giveBack(ticking)
    await Promise.all(ticking)
  }

  #lose(reason: string): void {
    if (this.#lost.signal.aborted) return
    this.#options.log.warn({ replica: this.#held.replica, reason }, 'replica lost')
    this.#lost.abort()
  }

  #fail(error: Error): void {
    this.#options.onFatal(error)
    this.#lose(error.message)
  }

  async #tickUntilEnded({ topic, forwarder }: Forwarded): Promise<void> {
    const { log } = this.#options
    let issue: string | undefined
    while (!this.#ended.aborted) {
      const reason = await this.#tick(forwarder)
      if (this.#ended.aborted) return
      if (reason === undefined && issue !== undefined) log.info({ topic }, 'storing the state of the topic again')
      if (reason !== undefined && reason !== issue) {
        log.warn({ topic, reason }, 'cannot store the state of the topic, retrying')
      }
      issue = reason
      await sleep(tickMs, undefined, { signal: this.#ended }).catch(() => undefined)
    }
  }

  /** Returns why it has to be retried. Undefined after success. */
  async #tick(forwarder: TopicForwarder): Promise<string | undefined> {
    try {
      await forwarder.tick()
    } catch (error) {
      if (this.#ended.aborted) return undefined
      if (error instanceof LostReplica) this.#lose(error.message)
      else if (!(isUnavailable(error) || error instanceof TooManyLetters)) throw error
      return messageOf(error)
    }
    return undefined
  }

  /** Another process has the replica, or may have it at any moment. */
  async #leave(): Promise<void> {
    const stopping = this.#forwarded.map(async ({ topic, forwarder }) => ({ topic, late: await forwarder.stop(true) }))
    const stopped = await Promise.all(stopping)
    await this.#held.release()
    for (const { topic, late } of stopped) if (late !== undefined) await this.#requestRewind(topic, late)
  }

  /** Retries until PostgreSQL has the request. A process that closes before leaves late rows uncorrected. */
  async #requestRewind(topic: string, offset: number): Promise<void> {
    const { log } = this.#options
    for (;;) {
      try {
        await this.#state.requestRewind(topic, offset)
        log.warn({ topic, offset }, 'replica lost with rows in flight; requested a resend from its next holder')
        return
      } catch (error) {
        if (!isUnavailable(error)) throw error
        if (this.#closing.aborted) {
          log.error({ topic, offset }, 'replica lost with rows in flight; cannot request a resend from its next holder')
          return
        }
      }
      await sleep(retryMs, undefined, { signal: this.#closing }).catch(() => undefined)
    }
  }

  async #giveBack(ticking: readonly Promise<void>[]): Promise<void> {
    await Promise.all(ticking)
    const stopped = await Promise.all(this.#forwarded.map(({ forwarder }) => forwarder.stop(false)))
    for (const { topic, forwarder } of this.#forwarded) {
      await forwarder.commitLast().catch((error: unknown) => {
        const text = 'cannot commit the last offset; records after the committed one are sent again'
        this.#options.log.warn({ err: error, topic }, text)
      })
    }
    // The next holder waits, as after a kill, unless all were stopped in time.
    await this.#held.release(stopped.every(late => late === undefined))
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Rejects when the signal aborts first. */
async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return await Promise.race([work, aborted(signal).then(() => signal.throwIfAborted() as never)])
}
