/** The status of the write paths of several shards as that of one. */

import type { WritePath } from '../write-path.ts'
import type { PositionSum } from './position-sum.ts'

type Status = ReturnType<WritePath<never, never>['status']>

/** `statuses`: of each shard, the first one first. Positions are those of `positions`. */
export function shardedStatus(statuses: readonly Status[], positions: PositionSum): Status {
  const [first] = statuses as readonly [Status]
  const sum = (read: (status: Status) => number) => statuses.reduce((total, status) => total + read(status), 0)
  const text = (read: (status: Status) => string | undefined) => firstOf(statuses, read)
  const end = positions.at(statuses.map(({ journal }) => journal.end))
  const applied = positions.passed(statuses.map(({ forwarder }) => forwarder.applied))
  const pending = statuses.flatMap(({ forwarder: { pendingSinceUs } }) => pendingSinceUs ?? [])
  return {
    journal: {
      bytes: sum(({ journal }) => journal.bytes),
      bytesMax: first.journal.bytesMax,
      end,
      ordinal: sum(({ journal }) => journal.ordinal),
      groups: sum(({ journal }) => journal.groups),
      records: sum(({ journal }) => journal.records),
      tornBytes: sum(({ journal }) => journal.tornBytes),
      highestStampUs: Math.max(...statuses.map(({ journal }) => journal.highestStampUs)),
      ...issuesOf(statuses),
    },
    forwarder: {
      rows: sum(({ forwarder }) => forwarder.rows),
      live: applied,
      backfill: applied,
      applied,
      recorded: undefined,
      start: 0,
      appliedOrdinal: sum(({ forwarder }) => forwarder.appliedOrdinal),
      pendingSinceUs: pending.length === 0 ? undefined : Math.min(...pending),
      deadLetters: sum(({ forwarder }) => forwarder.deadLetters),
      suspended: statuses.some(({ forwarder }) => forwarder.suspended),
      damagedBytes: sum(({ forwarder }) => forwarder.damagedBytes),
      issue: text(({ forwarder }) => forwarder.issue),
      fileIssue: text(({ forwarder }) => forwarder.fileIssue),
      isSynced: statuses.every(({ forwarder }) => forwarder.isSynced),
    },
  }
}

/** Rows are taken as long as one shard takes its own. */
function issuesOf(statuses: readonly Status[]): Pick<Status['journal'], 'issue' | 'refusing'> {
  const refusing = statuses.flatMap(({ journal: { issue } }, at) =>
    issue === undefined ? [] : [{ shard: at + 1, issue }],
  )
  if (refusing.length < statuses.length) return { issue: undefined, refusing }
  return { issue: firstOf(statuses, ({ journal }) => journal.issue) }
}

/** Of the first shard that has one, with its number. */
export function firstOf<Shard>(
  shards: readonly Shard[],
  read: (shard: Shard) => string | undefined,
): string | undefined {
  for (const [at, shard] of shards.entries()) {
    const found = read(shard)
    if (found !== undefined) return `shard ${at + 1}: ${found}`
  }
  return undefined
}
