/** Which module of the service gets which wrapper instead of what it imports. */

export interface Replacement {
  /** The module that imports, and what it imports: paths from the root of the source. */
  importer: string
  target: string
  /** What the wrapper changes of it. */
  changes: string
  /** Beside this file. */
  wrapper: string
}

export const replacements: readonly Replacement[] = [
  {
    importer: 'ingest/journal/journal-thread.ts',
    target: 'ingest/journal/disk.ts',
    changes: 'openDisk',
    wrapper: 'wrapped-disk.ts',
  },
  {
    importer: 'ingest/forwarder/forwarder-thread.ts',
    target: 'ingest/journal/disk.ts',
    changes: 'openDisk',
    wrapper: 'wrapped-disk.ts',
  },
  {
    importer: 'ingest/forwarder/run-forwarder.ts',
    target: 'ingest/forwarder/questdb.ts',
    changes: 'connectQuestdb',
    wrapper: 'wrapped-connection.ts',
  },
  {
    importer: 'service/open-ingest.ts',
    target: 'ingest/ingest.ts',
    changes: 'openIngest',
    wrapper: 'wrapped-ingest.ts',
  },
  {
    importer: 'service/service.ts',
    target: 'service/clock.ts',
    changes: 'systemClock',
    wrapper: 'wrapped-clock.ts',
  },
  {
    importer: 'lifecycle/erasure/erase-in-shard.ts',
    target: 'lifecycle/erasure/erase-rows.ts',
    changes: 'eraseRows',
    wrapper: 'wrapped-erase-rows.ts',
  },
  {
    importer: 'lifecycle/erasure/erase-jobs.ts',
    target: 'lifecycle/erasure/erase-records.ts',
    changes: 'endJob',
    wrapper: 'wrapped-erase-records.ts',
  },
  {
    importer: 'alerts/alerts.ts',
    target: 'alerts/store/apply.ts',
    changes: 'applyTransitions',
    wrapper: 'wrapped-alert-apply.ts',
  },
  {
    importer: 'alerts/outbox/flush.ts',
    target: 'alerts/outbox/flush-group.ts',
    changes: 'flushGroup',
    wrapper: 'wrapped-alert-flush.ts',
  },
  {
    importer: 'alerts/outbox/outbox.ts',
    target: 'alerts/outbox/overflow.ts',
    changes: 'createOverflow',
    wrapper: 'wrapped-alert-overflow.ts',
  },
  {
    importer: 'alerts/delivery/dispatch.ts',
    target: 'alerts/delivery/claim-rows.ts',
    changes: 'claimNext',
    wrapper: 'wrapped-alert-claims.ts',
  },
  {
    importer: 'alerts/delivery/settle.ts',
    target: 'alerts/delivery/outcome-rows.ts',
    changes: 'noteOutcome',
    wrapper: 'wrapped-alert-outcomes.ts',
  },
]

/** The address of the real module, from that of its wrapper. */
export function realModule(wrapperUrl: string): string {
  const real = new URL(wrapperUrl).searchParams.get('real')
  if (real === null) throw new Error(`${wrapperUrl} is loaded by preload.ts only`)
  return real
}
