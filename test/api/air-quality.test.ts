/** The stations of the air-quality API, and the queries of its lists. */

import t from 'tap'

// tap runs no other test until this one ends: the first part must not finish before the last one has a PostgreSQL.
t.test('the parts are loaded', () =>
  Promise.all([import('./air-quality/list-query.ts'), import('./air-quality/devices.ts')]),
)
