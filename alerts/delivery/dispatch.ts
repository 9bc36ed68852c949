/** Serves the channels: the leading node claims, sends and records due notifications. */

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { attributed, isBlamed } from '../../store/limits/attributed-work.ts'
import type { Log } from '../../store/log.ts'
import type { ChannelKindName } from '../core/channel.ts'
import { type AttemptResult, isDone } from './attempt.ts'
import { type Claimed, type ClaimOptions, claimMs, claimNext, giveBackClaim, waitingChannels } from './claim-rows.ts'
import { type Noted, noteOutcome, type OutcomeOptions } from './outcome-rows.ts'
import type { Send } from './sender.ts'

interface DispatchOptions extends ClaimOptions, SettleOptions {
  leads: () => boolean
  send: Send
}

interface Dispatch {
  /** Something may be due. */
  wake(): void
  /** Gives sends that are under way a moment, and then leaves them to the next start, which sends them with the same id. */
  close(): Promise<void>
}

const runningMax = 64
const runningOfOwnerMax = 16
/** The dispatcher also polls: another node may have led before and left due notifications. */
const lookEveryMs = 5000
const closeMsMax = 2000

export function createDispatch(options: DispatchOptions): Dispatch {
  const { pool, nowMs, log, leads, send } = options
  const closing = new AbortController()
  const leaving = new AbortController()
  const queue = createChannelQueue(serve)
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  let isWoken = false

  function wake(): void {
    isWoken = true
    if (closing.signal.aborted || looking !== undefined) return
    clearTimeout(timer)
    looking = look().finally(() => {
      looking = undefined
      // `wake` may have been called after the last look.
      if (isWoken) wake()
    })
  }

  async function look(): Promise<void> {
    let waitMs = lookEveryMs
    while (isWoken && !closing.signal.aborted) {
      isWoken = false
      waitMs = await addDue()
    }
    if (!closing.signal.aborted) timer = setTimeout(wake, waitMs).unref()
  }

  /** Returns the time in milliseconds until a further notification is due, as far as it is known. */
  async function addDue(): Promise<number> {
    if (!leads()) return lookEveryMs
    try {
      const atMs = nowMs()
      let waitMs = lookEveryMs
      for (const { channel, owner, dueMs } of await waitingChannels(pool, atMs)) {
        if (dueMs <= atMs) queue.add(channel, owner)
        else waitMs = Math.min(waitMs, dueMs - atMs)
      }
      return waitMs
    } catch (error) {
      log.warn({ err: error }, 'notifications of alerts cannot be read at present')
      return lookEveryMs
    }
  }

  async function serve(channel: number): Promise<boolean> {
    if (!leads() || closing.signal.aborted) return false
    try {
      const claimed = await claimNext(options, channel)
      if (claimed === undefined) return false
      const { id, message, webhookId } = claimed
      const work = { kind: 'delivery', id } as const
      const sending = { channel: claimed.channel, message, webhookId }
      const result = await attributed(work, () => send(sending, leaving.signal))
      // Another node would send it before this one has set it aside.
      if (isBlamed(work)) return false
      if (leaving.signal.aborted && !isDone(result)) await giveBackClaim(pool, claimed)
      else if ((await settle(options, claimed, result, closing.signal)).dueMs !== undefined) wake()
      return true
    } catch (error) {
      log.warn({ err: error, channel }, 'a notification of an alert cannot be claimed or noted at present')
      return false
    }
  }

  timer = setTimeout(wake, 0).unref()
  let closed: Promise<void> | undefined
  async function close(): Promise<void> {
    closing.abort()
    clearTimeout(timer)
    const cut = setTimeout(() => leaving.abort(), closeMsMax)
    await looking
    await queue.close()
    clearTimeout(cut)
  }
  return {
    wake,
    close() {
      closed ??= close()
      return closed
    },
  }
}

interface SettleOptions extends OutcomeOptions {
  log: Log
  meter: DeliveryMeter
}

const retryMs = 1000

/**
 * Records, counts and logs the result of an attempt. Rejects when PostgreSQL is unavailable until the claim expires: the
 * notification is sent once more then.
 */
async function settle(
  options: SettleOptions,
  claimed: Claimed,
  result: AttemptResult,
  closing: AbortSignal,
): Promise<Noted> {
  const { log, meter } = options
  const noted = await note(options, claimed, result, closing)
  const { id, channel, attempts } = claimed
  meter.count(channel.kind, result.outcome)
  const fields = { notification: id, channel: channel.id, kind: channel.kind, attempts: attempts + 1 }
  if (noted.isGivenUp) {
    meter.count(channel.kind, 'given_up')
    log.error({ ...fields, reason: result.error }, 'a notification of an alert could not be delivered and is given up')
  } else if (!isDone(result)) {
    log.warn({ ...fields, reason: result.error }, 'a notification of an alert could not be delivered')
  }
  if (noted.disabled !== undefined) log.warn({ ...fields, reason: noted.disabled }, 'a channel of alerts is disabled')
  return noted
}

async function note(
  options: OutcomeOptions,
  claimed: Claimed,
  result: AttemptResult,
  closing: AbortSignal,
): Promise<Noted> {
  const endMs = performance.now() + claimMs / 2
  for (;;) {
    try {
      return await noteOutcome(options, claimed, result)
    } catch (error) {
      if (closing.aborted || performance.now() > endMs) throw error
      await sleep(retryMs, undefined, { signal: closing, ref: false }).catch(() => undefined)
    }
  }
}

/**
 * Serves each channel one notification after the other. After an attempt, a channel stands behind the others, so that neither a
 * slow one nor a long queue delays another channel. `serve` makes the next attempt, and resolves to false where none is due. It
 * never rejects.
 */
function createChannelQueue(serve: (channel: number) => Promise<boolean>) {
  /** Channels are in the order in which they came. */
  const waiting = new Map<number, number | null>()
  const running = new Map<number, Promise<void>>()
  const ofOwner = new Map<number | null, number>()
  let isClosed = false

  function startNext(): void {
    for (const [channel, owner] of waiting) {
      if (isClosed || running.size >= runningMax) return
      if (running.has(channel) || (ofOwner.get(owner) ?? 0) >= runningOfOwnerMax) continue
      waiting.delete(channel)
      ofOwner.set(owner, (ofOwner.get(owner) ?? 0) + 1)
      running.set(channel, run(channel, owner))
    }
  }

  async function run(channel: number, owner: number | null): Promise<void> {
    const hasMore = await serve(channel)
    running.delete(channel)
    const left = (ofOwner.get(owner) ?? 1) - 1
    if (left === 0) ofOwner.delete(owner)
    else ofOwner.set(owner, left)
    if (hasMore) waiting.set(channel, owner)
    startNext()
  }

  return {
    /** The channel may have something to send. `owner`: null is the service. */
    add(channel: number, owner: number | null): void {
      waiting.set(channel, owner)
      startNext()
    },
    /** Drops waiting channels, and resolves when the running ones have ended. */
    async close(): Promise<void> {
      isClosed = true
      waiting.clear()
      await Promise.all(running.values())
    },
  }
}

type CountedResult = AttemptResult['outcome'] | 'given_up'

/** Counts attempts by kind of channel and result. */
export interface DeliveryMeter {
  count(kind: ChannelKindName, result: CountedResult): void
  results(): { kind: ChannelKindName; result: CountedResult; count: number }[]
  /** Age of the oldest waiting notification; 0 without one. Rejects while PostgreSQL is unavailable. */
  oldestSeconds(): Promise<number>
}

export function createDeliveryMeter(pool: Pick<pg.Pool, 'query'>, nowMs: () => number): DeliveryMeter {
  const counts = new Map<string, { kind: ChannelKindName; result: CountedResult; count: number }>()
  return {
    count(kind, result) {
      const key = `${kind} ${result}`
      const known = counts.get(key)
      if (known === undefined) counts.set(key, { kind, result, count: 1 })
      else known.count += 1
    },
    results: () => [...counts.values()],
    async oldestSeconds() {
      const text = `SELECT 1000 * extract(epoch FROM min(created_at))::float8 AS ms FROM alert_notifications
        WHERE state = 'waiting'`
      const [row] = (await pool.query<{ ms: number | null }>(text)).rows
      return row?.ms == null ? 0 : Math.max(0, (nowMs() - row.ms) / 1000)
    },
  }
}
