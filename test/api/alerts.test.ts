/** Alerts by HTTP: rules, silences and previews, and channels with their deliveries. */

import t from 'tap'

// Until it ends, tap runs no other test: the first part must not be over before the last one has a PostgreSQL.
t.test('the parts are loaded', () => Promise.all([import('./alerts/alerts.ts'), import('./alerts/channels.ts')]))
