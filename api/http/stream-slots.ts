/**
 * How many responses are streamed at the same time: in all, to one network and with one credential. When all slots are
 * taken, a client that has been waited for gives way to a new one, so that slow ones do not keep everybody out.
 */

import type { ServerResponse } from 'node:http'
import { Capacity } from '../../store/limits/capacity.ts'
import { networkOf } from '../../store/limits/networks.ts'
import { oneProcess, type ProcessCount, sharedCount } from '../../store/limits/shared-rate.ts'

export interface StreamSlotsOptions {
  slotsMax: number
  /** Of a network, and of a credential. */
  slotsOfOneMax: number
  /** They share what is of one. */
  processes?: ProcessCount | undefined
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

export function createStreamSlots(options: StreamSlotsOptions): StreamSlots {
  const { slotsMax, slotsOfOneMax, processes = oneProcess, nowMs } = options
  const eviction = { patienceMs, nowMs, evict: (response: ServerResponse) => void response.destroy() }
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
