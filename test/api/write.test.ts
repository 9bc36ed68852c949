/** Ways in that need no server of the whole: line protocol and further metrics. */

import t from 'tap'

// Until it ends, tap runs no other test: the first part must not be over before the last one has a PostgreSQL.
t.test('the parts are loaded', () =>
  Promise.all([import('./write/custom-metrics.ts'), import('./write/line-protocol.ts')]),
)
