/** Checks whether QuestDB has applied all rows up to a moment. */

import type { Ingest } from '../ingest/ingest.ts'

type Applying = Pick<Ingest, 'status' | 'shared'>

/** Marks the present end. The result is true when QuestDB has applied all rows before it. */
export function appliedMark({ status, shared }: Applying): () => boolean {
  const { ordinal, end } = status().journal
  return () => {
    const { forwarder } = status()
    // The number of readings before the end of a shared journal is unknown.
    return shared === undefined ? forwarder.appliedOrdinal >= ordinal : forwarder.applied >= end
  }
}
