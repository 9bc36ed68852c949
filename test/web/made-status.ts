/** The answer of `GET /api/admin/status` without faults and without Kafka. */

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

export const madeNode: NonNullable<Status['nodes']>[number] = {
  id: '01234567',
  is_self: true,
  role: 'api',
  version: '1.2.3',
  host: 'h-1',
  started: '2026-01-01T00:00:00.000Z',
  leads: true,
  lease_valid: true,
  lease_age_s: 1.5,
  applied_change: 1200,
  clock_ahead_s: -0.254,
  problems: [],
}
/** Another one, whose lease has expired. */
export const goneNode: typeof madeNode = {
  ...madeNode,
  id: '89abcdef',
  is_self: false,
  leads: false,
  lease_valid: false,
  lease_age_s: 70,
  clock_ahead_s: null,
  problems: ['one'],
}
