/**
 * How many responses are streamed at the same time: in all, to one network and with one credential. When all slots are
 * taken, a client that has been waited for gives way to a new one, so that slow ones do not keep everybody out.
 */

import type { ServerResponse } from 'node:http'
import { networkOf } from './networks.ts'

export interface StreamSlotsOptions {
  slotsMax: number
  /** Of a network, and of a credential. */
  slotsOfOneMax: number
  nowMs: () => number
}

/** Who gets a response. */
interface StreamClient {
  address: string
  /** Undefined where none is asked for. */
  credential: string | undefined
}

interface StreamSlot {
  /** Whether the client is waited for. */
  wait(isWaiting: boolean): void
}

/** What there is no slot of. */
export type SlotRefusal = 'of all' | 'of the network' | 'of the credential'

export interface StreamSlots {
  /** A slot until the response is closed. */
  take(response: ServerResponse, client: StreamClient): StreamSlot | SlotRefusal
}

/** Whoever has been waited for so long gives way. */
const patienceMs = 10_000

interface Taken {
  response: ServerResponse
  /** Among whom slots are shared: its network, and its credential. */
  sharers: readonly string[]
  /** Undefined while the client is not waited for. */
  waitingSinceMs: number | undefined
}

export function createStreamSlots({ slotsMax, slotsOfOneMax, nowMs }: StreamSlotsOptions): StreamSlots {
  const taken = new Set<Taken>()
  /** Of each sharer; those without a slot are not in here. */
  const counts = new Map<string, number>()

  /** The client that has been waited for longest is cut off, if that is too long. */
  function makeRoom(): void {
    let slowest: Taken | undefined
    for (const slot of taken) {
      if ((slot.waitingSinceMs ?? Number.POSITIVE_INFINITY) < (slowest?.waitingSinceMs ?? Number.POSITIVE_INFINITY))
        slowest = slot
    }
    if (slowest?.waitingSinceMs === undefined || nowMs() - slowest.waitingSinceMs < patienceMs) return
    release(slowest)
    slowest.response.destroy()
  }

  function release(slot: Taken): void {
    if (!taken.delete(slot)) return
    for (const sharer of slot.sharers) {
      const count = (counts.get(sharer) ?? 1) - 1
      if (count > 0) counts.set(sharer, count)
      else counts.delete(sharer)
    }
  }

  const isFull = (sharer: string | undefined) => sharer !== undefined && (counts.get(sharer) ?? 0) >= slotsOfOneMax

  return {
    take(response, { address, credential }) {
      const sharers = [
        `network ${networkOf(address)}`,
        ...(credential === undefined ? [] : [`credential ${credential}`]),
      ]
      if (isFull(sharers[0])) return 'of the network'
      if (isFull(sharers[1])) return 'of the credential'
      if (taken.size >= slotsMax) makeRoom()
      if (taken.size >= slotsMax) return 'of all'
      const slot: Taken = { response, sharers, waitingSinceMs: undefined }
      taken.add(slot)
      for (const sharer of sharers) counts.set(sharer, (counts.get(sharer) ?? 0) + 1)
      response.once('close', () => release(slot))
      return {
        wait(isWaiting) {
          slot.waitingSinceMs = isWaiting ? nowMs() : undefined
        },
      }
    },
  }
}
