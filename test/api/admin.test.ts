/** The admin API by HTTP, each part with a separate PostgreSQL. */

import t from 'tap'

// tap runs no other test until this one ends: the first part must not finish before the last one has a PostgreSQL.
t.test('the parts are loaded', () =>
  Promise.all([
    import('./admin/admin.ts'),
    import('./admin/accounts.ts'),
    import('./admin/decoders.ts'),
    import('./admin/invitations.ts'),
  ]),
)
