/** What `GET /api/admin/status` answers where all is well, without Kafka. */

import type { Status } from '../../api/admin/status-answer.ts'

const database = { kind: 'own', state: 'up', reason: null, version: '1.0' } as const
const journal = { bytes: 1e6, bytes_max: 1e9, damaged_bytes: 0, fault: null }
export const madeStatus: Status = {
  versions: { barograph: '1.2.3', node: '24.0.0', java: '21' },
  uptime_s: 4000,
  devices: 3,
  questdb: { ...database, commit_mode: 'sync', suspended: false, fault: null },
  postgres: database,
  journal: { ...journal, readings: 12 },
  lag: { readings: 0, seconds: 0 },
  dead_letters: 0,
  points: {
    journal: { ...journal, points: 0 },
    lag: { points: 0, seconds: 0 },
    dead_letters: 0,
    suspended: false,
    fault: null,
  },
  mqtt_port: 1883,
  reads: 'open',
  retention: { days: null, oldest_day: null, expired_days: 0, last_run: null, fault: null, waiting: null },
  disk: {
    path: '/',
    free_bytes: 1e9,
    total_bytes: 2e9,
    journal_bytes: null,
    questdb_bytes: null,
    postgres_bytes: null,
    growth_bytes_per_day: null,
    days_until_full: null,
  },
}
