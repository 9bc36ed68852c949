/** Forwards the topics of a replica while this process holds it, and stands by otherwise. */

import type { ForwardStatus } from './forward-status.ts'
import { ForwardedReplica } from './forwarded-replica.ts'
import type { ReplicaForwarderOptions } from './replica-forwarder-options.ts'

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
