/** Signing in: the pages, the host of Auth.js, and their forms. */

import t from 'tap'

// tap runs no other test until this one ends: the first part must not finish before the last one has a PostgreSQL.
t.test('the parts are loaded', () =>
  Promise.all([import('./sign-in/forms.ts'), import('./sign-in/auth-host.ts'), import('./sign-in/pages.ts')]),
)
