/** The stations of the air-quality API, and how its lists are asked for. */

import t from 'tap'

// Until it ends, tap runs no other test: the first part must not be over before the last one has a PostgreSQL.
t.test('the parts are loaded', () =>
  Promise.all([import('./air-quality/list-query.ts'), import('./air-quality/devices.ts')]),
)
