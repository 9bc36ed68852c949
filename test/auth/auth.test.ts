/** Accounts’ keys, mails and secrets, and the registries of devices and metrics, each with a PostgreSQL of its own. */

import t from 'tap'

// Until it ends, tap runs no other test: the first part must not be over before the last one has a PostgreSQL.
t.test('the parts are loaded', () =>
  Promise.all([
    import('./device.ts'),
    import('./devices.ts'),
    import('./keys.ts'),
    import('./mail.ts'),
    import('./metrics.ts'),
    import('./record-cache.ts'),
    import('./secrets.ts'),
  ]),
)
