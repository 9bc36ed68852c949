/** Ingest without the whole service: line protocol and custom metrics. */

import t from 'tap'

// tap runs no other test until this one ends: the first part must not finish before the last one has a PostgreSQL.
t.test('the parts are loaded', () =>
  Promise.all([import('./write/custom-metrics.ts'), import('./write/line-protocol.ts')]),
)
