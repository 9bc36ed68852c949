/** An account in memory, with its sessions and API keys, and how it is read. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import { keysPerAccountMax, type LiveKey, type Scope, scopeSet } from '../keys/key.ts'
import { type LiveLink, linksPerAccountMax } from '../views/link.ts'
import type { Role } from './account-details.ts'
import { noPreferences, type Preferences } from './preference-values.ts'

export interface Account {
  id: number
  email: string
  name: string | null
  image: string | null
  emailVerifiedMs: number | null
  role: Role
  /** Reads all devices if reads are private. */
  isViewer: boolean
  isActive: boolean
  hasPassword: boolean
  createdMs: number
  updatedMs: number
  /** Session tokens from before this time are void unless they name a session. */
  tokensValidAfterMs: number | null
  /** Partner of the user; null for an ordinary account. */
  tenantId: number | null
  tenantSlug: string | null
  preferences: Preferences
  /** Address of the view that is its start page; null for the fleet. */
  startAddress: string | null
  /** Sessions that are neither revoked nor expired, by id. */
  sessions: ReadonlyMap<string, LiveSession>
  /** Keys that are neither revoked nor expired. */
  keys: readonly LiveKey[]
  /** Links to its views that are neither revoked nor expired. */
  links: readonly LiveLink[]
}

interface LiveSession {
  createdMs: number
  expiresMs: number
}

/** Beyond it, the account's oldest session ends. */
const sessionsPerAccountMax = 200

interface AccountRow {
  id: number
  email: string
  name: string | null
  image: string | null
  role: Role
  is_viewer: boolean
  is_active: boolean
  has_password: boolean
  email_verified_at: Date | null
  created_at: Date
  updated_at: Date
  tokens_valid_after: Date | null
  tenant_id: number | null
  tenant_slug: string | null
  preferences: Partial<Preferences> | null
  start_address: string | null
  sessions: [sid: string, createdMs: number, expiresMs: number][]
  keys: [id: number, scopes: Scope[], createDevices: boolean, expiresMs: number | null, tags: string[]][]
  links: LiveLink[]
}

export async function readAccount(database: Transaction, id: number, nowMs: number): Promise<Account | undefined> {
  const { rows } = await database.query<AccountRow>(
    `SELECT id, email, name, image, role, is_viewer, is_active, password_hash IS NOT NULL AS has_password, email_verified_at,
       created_at, updated_at, tokens_valid_after, tenant_id, preferences,
       (SELECT slug FROM tenants WHERE tenants.id = accounts.tenant_id) AS tenant_slug,
       (SELECT address FROM saved_views WHERE account_id = accounts.id AND is_start) AS start_address, ARRAY(
         SELECT jsonb_build_array(sid, date_part('epoch', created_at) * 1000, date_part('epoch', expires_at) * 1000)
         FROM sessions
         WHERE account_id = accounts.id AND revoked_at IS NULL AND expires_at > to_timestamp($2::float8 / 1000)
         ORDER BY created_at DESC LIMIT $3
       ) AS sessions, ARRAY(
         SELECT jsonb_build_array(id, to_jsonb(scopes), create_devices, date_part('epoch', expires_at) * 1000,
           to_jsonb(tags))
         FROM api_keys
         WHERE account_id = accounts.id AND revoked_at IS NULL
           AND (expires_at > to_timestamp($2::float8 / 1000)) IS NOT FALSE
         ORDER BY id DESC LIMIT $4
       ) AS keys, ARRAY(
         SELECT jsonb_build_object('id', view_links.id, 'name', name, 'address', address, 'devices', to_jsonb(devices),
           'panels', panels,
           'expiresMs', date_part('epoch', expires_at) * 1000)
         FROM view_links JOIN saved_views ON saved_views.id = view_id
         WHERE view_links.account_id = accounts.id AND revoked_at IS NULL AND expires_at > to_timestamp($2::float8 / 1000)
         ORDER BY view_links.id DESC LIMIT $5
       ) AS links
     FROM accounts WHERE id = $1`,
    [id, nowMs, sessionsPerAccountMax, keysPerAccountMax, linksPerAccountMax],
  )
  const [row] = rows
  return row && accountOf(row)
}

function accountOf(row: AccountRow): Account {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    image: row.image,
    emailVerifiedMs: timeOf(row.email_verified_at),
    role: row.role,
    isViewer: row.is_viewer,
    isActive: row.is_active,
    hasPassword: row.has_password,
    createdMs: row.created_at.getTime(),
    updatedMs: row.updated_at.getTime(),
    tokensValidAfterMs: timeOf(row.tokens_valid_after),
    tenantId: row.tenant_id,
    tenantSlug: row.tenant_slug,
    preferences: row.preferences === null ? noPreferences : { ...noPreferences, ...row.preferences },
    startAddress: row.start_address,
    sessions: sessionsOf(row),
    keys: keysOf(row),
    links: row.links.length === 0 ? noLinks : row.links,
  }
}

/** Shared by the many accounts without sessions. */
const noSessions: Account['sessions'] = new Map()
const noKeys: Account['keys'] = []
const noLinks: Account['links'] = []

function sessionsOf({ sessions }: AccountRow): Account['sessions'] {
  if (sessions.length === 0) return noSessions
  return new Map(sessions.map(([sid, createdMs, expiresMs]) => [sid, { createdMs, expiresMs }]))
}

function keysOf({ keys }: AccountRow): Account['keys'] {
  if (keys.length === 0) return noKeys
  return keys.map(([id, scopes, createDevices, expiresMs, tags]) => {
    return { id, scopes: scopeSet(scopes), createDevices, expiresMs, tags: tags.length === 0 ? undefined : tags }
  })
}

function timeOf(date: Date | null): number | null {
  return date === null ? null : date.getTime()
}

/** Names an account in the audit. */
export function subjectOf(id: number): string {
  return `account ${id}`
}
