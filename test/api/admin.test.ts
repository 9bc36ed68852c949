/** The admin API by HTTP, each part with a PostgreSQL of its own. */

import t from 'tap'

// Until it ends, tap runs no other test: the first part must not be over before the last one has a PostgreSQL.
t.test('the parts are loaded', () =>
  Promise.all([
    import('./admin/admin.ts'),
    import('./admin/accounts.ts'),
    import('./admin/decoders.ts'),
    import('./admin/invitations.ts'),
  ]),
)
