/** Content files: the index of their listing, and the way through it. */

import t from 'tap'

// Until it ends, tap runs no other test: the first part must not be over before the last one has a PostgreSQL.
t.test('the parts are loaded', () => Promise.all([import('./content/listing-index.ts'), import('./content/walk.ts')]))
