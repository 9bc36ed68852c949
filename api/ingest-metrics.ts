/** What ingest tells of itself at each scrape. */

import type { Registry } from 'prom-client'
import type { IngestStatus } from '../ingest/ingest.ts'
import { counter, gauge } from './http/metric-kinds.ts'

export function addIngest(registry: Registry, ingest: () => IngestStatus): void {
  const total = (name: string, help: string, read: (status: IngestStatus) => number) =>
    counter(registry, `barograph_${name}_total`, help, () => read(ingest()))
  const level = (name: string, help: string, read: (status: IngestStatus) => number) =>
    gauge(registry, `barograph_${name}`, help, () => read(ingest()))
  total('readings_durable', 'Readings synced to the journal, by every way in.', status => status.journal.readings)
  total('journal_groups', 'Syncs of the journal; durable readings by groups is the mean group.', s => s.journal.groups)
  total('readings_forwarded', 'Rows that QuestDB has taken.', status => status.forwarder.rows)
  total('readings_applied', 'Records of the journal that queries show.', status => status.forwarder.appliedOrdinal)
  level('lag_readings', 'Readings on disk that no query shows yet.', status => status.lag.readings)
  level('lag_seconds', 'How long the oldest of them has waited.', status => status.lag.seconds)
  level('journal_bytes', 'Size of the journal.', status => status.journal.bytes)
  level('journal_damaged_bytes', 'Bytes of the journal in quarantine.', status => damagedBytes(status))
  level('dead_letters', 'Readings that QuestDB refused.', status => status.forwarder.deadLetters)
  total('clock_steps', 'How often the clock was set, by more than a second.', status => status.clock.steps)
  level('stamp_ahead_seconds', 'How far the newest stamp lies ahead of the clock.', s => s.clock.aheadSeconds)
  level('table_suspended', '1 while QuestDB has suspended the table.', status => (status.forwarder.suspended ? 1 : 0))
}

function damagedBytes({ journal, forwarder }: IngestStatus): number {
  return journal.tornBytes + forwarder.damagedBytes
}
