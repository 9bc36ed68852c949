/** Whether QuestDB has what was taken up to a moment. */

import type { Ingest } from '../ingest/ingest.ts'

type Applying = Pick<Ingest, 'status' | 'shared'>

/** Up to now. The answer is whether all of it is applied by then. */
export function appliedMark({ status, shared }: Applying): () => boolean {
  const { ordinal, end } = status().journal
  return () => {
    const { forwarder } = status()
    // Of a shared journal nobody knows how many readings there are before its end.
    return shared === undefined ? forwarder.appliedOrdinal >= ordinal : forwarder.applied >= end
  }
}
