/** Accounts’ keys, mails and secrets, and the registries of devices and metrics, each with a separate PostgreSQL. */

import t from 'tap'

// tap runs no other test until this one ends: the first part must not finish before the last one has a PostgreSQL.
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
