/** Notes the offsets of topics in a backup, and checks that they are not replayed meanwhile. */

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { appliedOffsetSql, firstOffset } from '../../ingest/kafka/state/state.ts'
import { BackupError } from './backup-parts.ts'
import type { ManifestHead } from './manifest.ts'

type Offsets = NonNullable<ManifestHead['topics']>

export interface AppliedTopics {
  /** Offsets from which on QuestDB may lack records after a crash. */
  offsets: Offsets
  /** Rejects with a BackupError if applied records were replayed since, as QuestDB may have lost them. */
  assertKept(): Promise<void>
}

interface Row {
  name: string
  offset: number | null
  applied: number | null
  sending: string | null
}

const pauseMs = 500
const rowsSql = `SELECT topic AS name, (${appliedOffsetSql})::float8 AS applied,
  (${firstOffset})::float8 AS offset,
  -- Another one each time that records are sent again.
  concat_ws('/', status->>'tenure', status->>'losses') AS sending
  FROM replica_topics WHERE topic = ANY($1)`

/** Resolves when QuestDB has all records before these ends. */
export async function untilApplied(
  postgres: Pick<pg.Client, 'query'>,
  ends: ReadonlyMap<string, number>,
  signal: AbortSignal,
): Promise<AppliedTopics> {
  const names = [...ends.keys()]
  async function rows(): Promise<Row[]> {
    const known = (await postgres.query<Row>(rowsSql, [names])).rows
    return names.map(
      name => known.find(row => row.name === name) ?? { name, offset: null, applied: null, sending: null },
    )
  }
  for (;;) {
    signal.throwIfAborted()
    const found = await rows()
    if (found.every(({ name, applied }) => (applied ?? 0) >= (ends.get(name) ?? 0))) {
      const offsets = found.map(({ name, offset }) => ({ name, offset: offset ?? 0 }))
      return { offsets, assertKept: async () => assertSame(found, await rows(), ends) }
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
  }
}

/** Committed records are synced and are not lost. */
function assertSame(before: readonly Row[], after: readonly Row[], ends: ReadonlyMap<string, number>): void {
  for (const [at, { name, offset, sending }] of before.entries()) {
    if ((offset ?? 0) >= (ends.get(name) ?? 0) || after[at]?.sending === sending) continue
    throw new BackupError(
      `The records of topic ${name} were sent again meanwhile, as its QuestDB does not sync and may have lost some: start the backup again.`,
    )
  }
}
