/** What the write paths tell of themselves at each scrape. */

import type { Registry } from 'prom-client'
import type { IngestStatus } from '../ingest/ingest.ts'
import { counter, gauge } from '../store/metric-kinds.ts'

export interface IngestMetricsOptions {
  /** Of the readings. */
  ingest: () => IngestStatus
  points: () => IngestStatus
}

export function addIngest(registry: Registry, { ingest, points }: IngestMetricsOptions): void {
  addWritePath(registry, 'readings', '', ingest)
  addWritePath(registry, 'points', 'points_', points)
  counter(registry, 'barograph_clock_steps_total', 'How often the clock was set, by more than a second.', () => {
    return ingest().clock.steps
  })
}

/** The names of those of the readings are older than the second write path, and have no prefix. */
function addWritePath(registry: Registry, rows: 'readings' | 'points', prefix: string, read: () => IngestStatus): void {
  const total = (name: string, help: string, value: (status: IngestStatus) => number) =>
    counter(registry, `barograph_${name}_total`, help, () => value(read()))
  const level = (name: string, help: string, value: (status: IngestStatus) => number) =>
    gauge(registry, `barograph_${name}`, help, () => value(read()))
  const ofJournal = `the journal of ${rows}`
  total(`${rows}_durable`, `Records synced to ${ofJournal}, by every way in.`, s => s.journal.records)
  total(`${prefix}journal_groups`, `Syncs of ${ofJournal}; durable ${rows} by groups is the mean group.`, s => {
    return s.journal.groups
  })
  total(`${rows}_forwarded`, 'Rows that QuestDB has taken.', s => s.forwarder.rows)
  total(`${rows}_applied`, `Records of ${ofJournal} that queries show.`, s => s.forwarder.appliedOrdinal)
  level(`lag_${rows}`, `Number of ${rows} on disk that no query shows yet.`, s => s.lag.rows)
  level(`${prefix}lag_seconds`, 'How long the oldest of them has waited.', s => s.lag.seconds)
  level(`${prefix}journal_bytes`, `Size of ${ofJournal}.`, s => s.journal.bytes)
  level(`${prefix}journal_damaged_bytes`, `Bytes of ${ofJournal} in quarantine.`, damagedBytes)
  level(`${prefix}dead_letters`, `Number of ${rows} that QuestDB refused.`, s => s.forwarder.deadLetters)
  level(`${prefix}stamp_ahead_seconds`, 'How far the newest stamp lies ahead of the clock.', s => s.clock.aheadSeconds)
  level(`${prefix}table_suspended`, '1 while QuestDB has suspended the table.', s => (s.forwarder.suspended ? 1 : 0))
}

function damagedBytes({ journal, forwarder }: IngestStatus): number {
  return journal.tornBytes + forwarder.damagedBytes
}
