/** Signing in: the pages, the host of Auth.js, and their forms. */

import t from 'tap'

// Until it ends, tap runs no other test: the first part must not be over before the last one has a PostgreSQL.
t.test('the parts are loaded', () =>
  Promise.all([import('./sign-in/forms.ts'), import('./sign-in/auth-host.ts'), import('./sign-in/pages.ts')]),
)
