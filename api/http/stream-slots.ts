/**
 * How many responses are streamed at the same time, in all and to one address. When all slots are taken, a client that has
 * been waited for gives way to a new one, so that slow ones do not keep everybody out.
 */

import type { ServerResponse } from 'node:http'
import { networkOf } from './networks.ts'

export interface StreamSlotsOptions {
  slotsMax: number
  perAddressMax: number
  nowMs: () => number
}

interface StreamSlot {
  /** Whether the client is waited for. */
  wait(isWaiting: boolean): void
}

export interface StreamSlots {
  /** A slot until the response is closed; undefined when there is none. */
  take(response: ServerResponse, address: string): StreamSlot | undefined
}

/** Whoever has been waited for so long gives way. */
const patienceMs = 10_000

interface Taken {
  network: string
  response: ServerResponse
  /** Undefined while the client is not waited for. */
  waitingSinceMs: number | undefined
}

export function createStreamSlots({ slotsMax, perAddressMax, nowMs }: StreamSlotsOptions): StreamSlots {
  const taken = new Set<Taken>()

  /** The client that has been waited for longest is cut off, if that is too long. */
  function makeRoom(): void {
    let slowest: Taken | undefined
    for (const slot of taken) {
      if ((slot.waitingSinceMs ?? Number.POSITIVE_INFINITY) < (slowest?.waitingSinceMs ?? Number.POSITIVE_INFINITY))
        slowest = slot
    }
    if (slowest?.waitingSinceMs === undefined || nowMs() - slowest.waitingSinceMs < patienceMs) return
    taken.delete(slowest)
    slowest.response.destroy()
  }

  return {
    take(response, address) {
      const network = networkOf(address)
      const ofNetwork = [...taken].filter(slot => slot.network === network).length
      if (ofNetwork >= perAddressMax) return undefined
      if (taken.size >= slotsMax) makeRoom()
      if (taken.size >= slotsMax) return undefined
      const slot: Taken = { network, response, waitingSinceMs: undefined }
      taken.add(slot)
      response.once('close', () => taken.delete(slot))
      return {
        wait(isWaiting) {
          slot.waitingSinceMs = isWaiting ? nowMs() : undefined
        },
      }
    },
  }
}
