/** Of which devices readings are refused at present, or not told here: none of these is silent for that. */

import type { Ingest } from '../ingest/ingest.ts'
import { bucketsOn, type Placement } from '../placement/placement.ts'

type Readings = Pick<Ingest, 'shared'> & { status: () => Pick<ReturnType<Ingest['status']>, 'journal'> }

export interface ShardOutagesOptions {
  ingest: Readings
  shards: readonly { readonly number: number; readonly ingest: Readings }[]
  placement: (() => Placement) | undefined
  nowMs: () => number
}

/** Readings of devices whose clocks are behind are on the shard of an earlier epoch. */
const behindMsMax = 86_400_000

export function createShardOutages({ ingest, shards, placement, nowMs }: ShardOutagesOptions) {
  const outShards = () => new Set(shards.filter(shard => isOut(shard.ingest)).map(({ number }) => number))

  return {
    /** All devices. */
    isOut: () => ingest.status().journal.issue !== undefined || outShards().size === shards.length,
    /** Those of some shards, by the buckets of their numbers. */
    outBuckets() {
      if (placement === undefined) return undefined
      const out = outShards()
      if (out.size === 0 || out.size === shards.length) return undefined
      return bucketsOn(placement(), out, (nowMs() - behindMsMax) * 1000)
    },
  }
}

function isOut({ status, shared }: Readings): boolean {
  return status().journal.issue !== undefined || (shared?.untoldSeconds() ?? 0) > 0
}
