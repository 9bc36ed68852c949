/** Alerts by HTTP: rules, silences and previews, and channels with their deliveries. */

import t from 'tap'

// tap runs no other test until this one ends: the first part must not finish before the last one has a PostgreSQL.
t.test('the parts are loaded', () => Promise.all([import('./alerts/alerts.ts'), import('./alerts/channels.ts')]))
