/**
 * Which channels are served: each one notification after the other, so many channels at a time, and so many of one owner. After
 * each attempt a channel stands behind the others, so that neither a slow one nor a long queue delays another channel.
 */

export interface ChannelQueueOptions {
  /** Makes the next attempt of a channel; false where it has nothing that is due. Never rejects. */
  serve: (channel: number) => Promise<boolean>
  runningMax: number
  runningOfOwnerMax: number
}

export interface ChannelQueue {
  /** It may have something to send. `owner`: null is the service. */
  add(channel: number, owner: number | null): void
  /** Drops waiting channels, and resolves when the running ones have ended. */
  close(): Promise<void>
}

export function createChannelQueue({ serve, runningMax, runningOfOwnerMax }: ChannelQueueOptions): ChannelQueue {
  /** In the order in which they came. */
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
    add(channel, owner) {
      waiting.set(channel, owner)
      startNext()
    },
    async close() {
      isClosed = true
      waiting.clear()
      await Promise.all(running.values())
    },
  }
}
