/**
 * Imports that wrappers.ts replaces: the importing module, the imported module, and the names. Paths are relative to the root of
 * the source.
 */
export const replacements: readonly (readonly [importer: string, target: string, names: readonly string[]])[] = [
  ['ingest/journal/journal-thread.ts', 'ingest/journal/disk.ts', ['openDisk']],
  ['ingest/forwarder/forwarder-thread.ts', 'ingest/journal/disk.ts', ['openDisk']],
  ['ingest/forwarder/run-forwarder.ts', 'ingest/forwarder/questdb.ts', ['connectQuestdb']],
  ['service/open-ingest.ts', 'ingest/ingest.ts', ['openIngest', 'openPointsIngest']],
  ['service/service.ts', 'service/clock.ts', ['systemClock']],
  ['service/lifecycle/erasure/erase-in-replica.ts', 'service/lifecycle/erasure/erase-rows.ts', ['eraseRows']],
  ['service/lifecycle/erasure/erase-jobs.ts', 'service/lifecycle/erasure/erase-records.ts', ['endJob']],
  ['alerts/alerts.ts', 'alerts/store/apply.ts', ['applyTransitions']],
  ['alerts/outbox/outbox.ts', 'alerts/outbox/flush-group.ts', ['flushGroup']],
  ['alerts/outbox/outbox.ts', 'alerts/outbox/overflow.ts', ['createOverflow']],
  ['alerts/delivery/dispatch.ts', 'alerts/delivery/claim-rows.ts', ['claimNext']],
  ['alerts/delivery/dispatch.ts', 'alerts/delivery/outcome-rows.ts', ['noteOutcome']],
]
