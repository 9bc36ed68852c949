/**
 * Bounds concurrent streamed responses: in total, for a network and for a credential. When all slots are taken, a
 * client that has stalled is evicted for a new one, so that slow clients do not block others.
 */

import type { ServerResponse } from 'node:http'
import { Capacity } from '../../store/limits/capacity.ts'
import { networkOf } from '../../store/limits/networks.ts'
import { oneProcess, type ProcessCount, sharedCount } from '../../store/limits/shared-rate.ts'

export interface StreamSlotsOptions {
  slotsMax: number
  /** Limit for a network, and for a credential. */
  slotsOfOneMax: number
  /** Processes share the limits of a client. */
  processes?: ProcessCount | undefined
  nowMs: () => number
}

/** The client of a response. */
interface StreamClient {
  address: string
  /** Undefined if no credential is required. */
  credential: string | undefined
}

interface StreamSlot {
  /** Notes whether the response is waiting for the client. */
  wait(isWaiting: boolean): void
}

/** Limit that is reached. */
export type SlotRefusal = 'of all' | 'of the network' | 'of the credential'

export interface StreamSlots {
  /** A slot is held until the response is closed. */
  take(response: ServerResponse, client: StreamClient): StreamSlot | SlotRefusal
}

/** A client that has stalled for this long may be evicted. */
const patienceMs = 10_000

export function createStreamSlots(options: StreamSlotsOptions): StreamSlots {
  const { slotsMax, slotsOfOneMax, processes = oneProcess, nowMs } = options
  const eviction = { waitMsMax: patienceMs, nowMs, evict: (response: ServerResponse) => void response.destroy() }
  const slots = new Capacity<ServerResponse>({ max: slotsMax, eviction })
  const isFull = (sharer: string | undefined) =>
    sharer !== undefined && slots.amountOf(sharer) >= sharedCount(slotsOfOneMax, processes)

  return {
    take(response, { address, credential }) {
      const network = `network ${networkOf(address)}`
      const sharers = credential === undefined ? [network] : [network, `credential ${credential}`]
      if (isFull(network)) return 'of the network'
      if (isFull(sharers[1])) return 'of the credential'
      if (!slots.take(response, sharers)) return 'of all'
      response.once('close', () => slots.release(response))
      return { wait: isWaiting => slots.wait(response, isWaiting) }
    },
  }
}
