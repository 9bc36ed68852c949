/** The account service by HTTP, each part with a separate PostgreSQL. */

import t from 'tap'

// tap runs no other test until this one ends: the first part must not finish before the last one has a PostgreSQL.
t.test('the parts are loaded', () =>
  Promise.all([
    import('./accounts/basic-credentials.ts'),
    import('./accounts/accounts.ts'),
    import('./accounts/api-keys.ts'),
    import('./accounts/device-authorization.ts'),
    import('./accounts/drive.ts'),
  ]),
)
