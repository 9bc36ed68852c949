/** The account service by HTTP, each part with a PostgreSQL of its own. */

import t from 'tap'

// Until it ends, tap runs no other test: the first part must not be over before the last one has a PostgreSQL.
t.test('the parts are loaded', () =>
  Promise.all([
    import('./accounts/basic-credentials.ts'),
    import('./accounts/accounts.ts'),
    import('./accounts/api-keys.ts'),
    import('./accounts/device-authorization.ts'),
    import('./accounts/drive.ts'),
  ]),
)
