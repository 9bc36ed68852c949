/** Forwards the topics of a shard while this process holds it, and stands by while another one does. */

import type { ForwardStatus } from './forward-status.ts'
import { ForwardedShard } from './forwarded-shard.ts'
import type { ShardForwarderOptions } from './shard-forwarder-options.ts'

export interface ShardForwarder {
  /** Undefined while this process stands by. */
  status(): { topic: string; status: ForwardStatus }[] | undefined
  /** Stops after the requests in flight, commits what was applied and gives the shard back. May be called twice. */
  close(): Promise<void>
}

export function startShardForwarder(options: ShardForwarderOptions): ShardForwarder {
  const { acquire, onFatal } = options
  const closing = new AbortController()
  let forwarded: ForwardedShard | undefined

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      const held = await acquire(closing.signal)
      forwarded = new ForwardedShard(options, held, closing.signal)
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
