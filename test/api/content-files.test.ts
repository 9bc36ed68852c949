/** The listing of content files: its query, its page and its routes. */

import t from 'tap'

// tap runs no other test until this one ends: the first part must not finish before the last one has a PostgreSQL.
t.test('the parts are loaded', () =>
  Promise.all([
    import('./content-files/query.ts'),
    import('./content-files/page.ts'),
    import('./content-files/listing.ts'),
  ]),
)
