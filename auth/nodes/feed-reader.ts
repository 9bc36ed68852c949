/** Applies the changes of the feed to what this node holds in memory, in their order. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import type { ApplyChange, ChangeKind } from './change-feed.ts'
import { type Change, type FeedHead, readFeed } from './feed-rows.ts'

/** What this node holds in memory cannot be brought up to date any more. */
export class FeedBroken extends Error {}

export interface FeedReader {
  /** Up to where all is applied. */
  applied(): FeedHead
  /** Applies all that is committed. Rejects with FeedBroken, or as what is called does; then it may be called again. */
  catchUp(database: Transaction): Promise<void>
  onChange(kind: ChangeKind, apply: ApplyChange): void
}

const changesPerRead = 1_000

/** `start`: what is committed up to there is read by whoever opens a registry later than this. */
export function createFeedReader(start: FeedHead): FeedReader {
  const appliers = new Map<ChangeKind, ApplyChange>()
  let applied = start

  async function apply(changes: readonly Change[]): Promise<void> {
    const idsByKind = new Map<ChangeKind, Set<number>>()
    for (const { kind, ids } of changes) {
      const known = idsByKind.get(kind) ?? new Set()
      for (const id of ids) known.add(id)
      idsByKind.set(kind, known)
    }
    for (const [kind, applyKind] of appliers) {
      const ids = idsByKind.get(kind)
      if (ids !== undefined) await applyKind([...ids])
    }
  }

  /** Whether there is more. */
  async function applyNext(database: Transaction): Promise<boolean> {
    const { head, changes } = await readFeed(database, applied.seq, changesPerRead)
    requireUnbroken(applied, head, changes[0]?.seq)
    await apply(changes)
    applied = { epoch: head.epoch, seq: changes.at(-1)?.seq ?? applied.seq }
    return applied.seq < head.seq
  }

  return {
    applied: () => applied,
    async catchUp(database) {
      while (await applyNext(database));
    },
    onChange(kind, apply) {
      appliers.set(kind, apply)
    },
  }
}

/** `next`: the number of the first change behind what is applied. */
function requireUnbroken(applied: FeedHead, head: FeedHead, next: number | undefined): void {
  if (head.epoch !== applied.epoch || head.seq < applied.seq) {
    throw new FeedBroken(
      'The PostgreSQL of this node was restored from a backup, or used by a service that is not a node: start the node again.',
    )
  }
  if (head.seq > applied.seq && next !== applied.seq + 1) {
    throw new FeedBroken(
      'This node was without PostgreSQL for so long that changes of others are gone: start the node again.',
    )
  }
}
