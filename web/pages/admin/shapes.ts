/** What the admin API answers, as far as it is shown; `/docs` has all of it. Times are ISO 8601 in UTC. */

export interface AdminDevice {
  name: string
  location_short: string
  location_desc: string
  log_switch: boolean
  battery: boolean
  altitude_m: number | null
  expected_interval_seconds: number | null
  owner: number | null
  created_at: string
  last_seen: string | null
  credential: 'current' | 'rotating'
  old_password_until: string | null
}

export interface Issued {
  device: string
  password: string
  /** Of a rotation. */
  old_password_until?: string | null
}

export interface AdminAccount {
  id: number
  email: string
  name: string | null
  role: 'user' | 'administrator' | 'operator'
  viewer: boolean
  is_active: boolean
  email_verified: string | null
  tenant_slug: string | null
  created_at: string
}

export interface AdminInvitation {
  id: number
  email: string
  role: 'user' | 'administrator'
  viewer: boolean
  invited_by: string
  expires_at: string
  /** Of a new one. */
  link?: string
}

export interface AdminKey {
  id: number
  email: string
  name: string
  prefix: string
  scopes: string[]
  state: 'active' | 'expired' | 'revoked'
  created_at: string
  last_used_at: string | null
}

export interface AdminStation {
  sn: string
  model: string
  city: string | null
  country: string | null
  private: boolean
  last_data_at: string | null
}

export interface AdminTenant {
  slug: string
  name: string
  is_active: boolean
  created_at: string
  old_secret_until: string | null
  /** Of a new one and of a rotation. */
  secret?: string
}

export interface DeadLetter {
  id: number
  at: string
  reason: string
  symbol: string
  time: string
  values: Record<string, number | null>
}

export interface AuditEntry {
  id: number
  at: string
  actor: string
  action: string
  subject: string
  details: Record<string, unknown>
}

interface Database {
  kind: 'own' | 'given'
  state: 'starting' | 'up' | 'away'
  reason: string | null
  version: string | null
}

export interface AdminStatus {
  versions: { barograph: string; node: string; java: string | null }
  uptime_s: number
  devices: number
  questdb: Database & { suspended: boolean; fault: string | null }
  postgres: Database
  journal: { bytes: number; bytes_max: number; damaged_bytes: number; fault: string | null; readings: number }
  lag: { readings: number; seconds: number }
  dead_letters: number
  points: { lag: { points: number; seconds: number }; dead_letters: number; fault: string | null }
  retention: {
    days: number | null
    oldest_day: string | null
    expired_days: number
    fault: string | null
    /** Days that stay until a person confirms that they expire. */
    waiting: { from: string; before: string; days: number; reason: 'several_days' | 'no_newer_readings' } | null
  }
  disk: {
    path: string
    free_bytes: number
    total_bytes: number
    growth_bytes_per_day: number | null
    days_until_full: number | null
  }
}

/** Oldest first, and none where the service did not run. */
export interface ServiceHistory {
  step_s: number
  points: {
    time: string
    ack_p50_ms: number | null
    ack_p99_ms: number | null
    rejected: number | null
    lag_seconds: number | null
    rss_bytes: number | null
  }[]
}
