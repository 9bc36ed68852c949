/** Serves the channels: the leading node claims, sends and records due notifications. */

import { attributed, isBlamed } from '../../store/limits/attributed-work.ts'
import { isDone } from './attempt.ts'
import { createChannelQueue } from './channel-queue.ts'
import { type ClaimOptions, claimNext, giveBackClaim, waitingChannels } from './claim-rows.ts'
import type { Send } from './sender.ts'
import { createSettle, type SettleOptions } from './settle.ts'

export interface DispatchOptions extends ClaimOptions, SettleOptions {
  leads: () => boolean
  send: Send
}

export interface Dispatch {
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
  const settle = createSettle(options)
  const closing = new AbortController()
  const leaving = new AbortController()
  const queue = createChannelQueue({ serve, runningMax, runningOfOwnerMax })
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  let isWoken = false

  function wake(): void {
    isWoken = true
    if (closing.signal.aborted || looking !== undefined) return
    clearTimeout(timer)
    looking = look().finally(() => {
      looking = undefined
      // Between its last look and here.
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

  /** Until when nothing more is due, as far as it is known. */
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
      else if ((await settle(claimed, result, closing.signal)).dueMs !== undefined) wake()
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
