/** Applies the changes of the feed to this node's memory in order. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import type { ApplyChange, ChangeKind } from './change-feed.ts'
import { type Change, type FeedHead, readFeed } from './feed-rows.ts'

/** This node's memory can no longer be updated from the feed. */
export class FeedBroken extends Error {}

export interface FeedReader {
  /** Position up to which all changes are applied. */
  applied(): FeedHead
  /** Applies all commits. Rejects with FeedBroken, or like the listeners. Then it may be called again. */
  catchUp(database: Transaction): Promise<void>
  onChange(kind: ChangeKind, apply: ApplyChange): void
}

const changesPerRead = 1_000

/** Registries that are opened later read the changes up to `start` themselves. */
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

  /** True if there are further changes. */
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

/** `next` is the number of the first change that is not applied. */
function requireUnbroken(applied: FeedHead, head: FeedHead, next: number | undefined): void {
  if (head.epoch !== applied.epoch || head.seq < applied.seq) {
    throw new FeedBroken(
      'PostgreSQL was restored from a backup, or used by a service other than a node: restart this node.',
    )
  }
  if (head.seq > applied.seq && next !== applied.seq + 1) {
    throw new FeedBroken(
      'This node was disconnected from PostgreSQL for longer than changes are kept: restart this node.',
    )
  }
}
