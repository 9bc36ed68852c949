/** Declares a device's request for an API key, its states, and how it is read. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import { digestOfCode } from './codes.ts'

export interface Grant {
  id: string
  clientName: string
  /** Address of the device at its start. */
  address: string
  status: GrantStatus
  createdMs: number
  expiresMs: number
  intervalSeconds: number
  /** The first session that looked it up, named by `viewerOf`. */
  viewer: string | null
}

type GrantStatus = 'pending' | 'approved' | 'consumed' | 'denied'
export type GrantState = GrantStatus | 'expired'

export const grantLifetimeMs = 600_000

/** Fetched and denied requests are final. All others expire. */
export function stateOf({ status, expiresMs }: Grant, nowMs: number): GrantState {
  const canExpire = status === 'pending' || status === 'approved'
  return canExpire && expiresMs <= nowMs ? 'expired' : status
}

interface GrantRow {
  id: string
  client_name: string
  address: string
  status: GrantStatus
  created_at: Date
  expires_at: Date
  interval_seconds: number
  viewer: string | null
}

export const grantColumns = 'id, client_name, address, status, created_at, expires_at, interval_seconds, viewer'

/** The statement returns `grantColumns`. */
export async function oneGrant(database: Transaction, text: string, values: unknown[]): Promise<Grant | undefined> {
  const { rows } = await database.query<GrantRow>(text, values)
  const [row] = rows
  return (
    row && {
      id: row.id,
      clientName: row.client_name,
      address: row.address,
      status: row.status,
      createdMs: row.created_at.getTime(),
      expiresMs: row.expires_at.getTime(),
      intervalSeconds: row.interval_seconds,
      viewer: row.viewer,
    }
  )
}

export function findByDeviceCode(database: Transaction, code: string): Promise<Grant | undefined> {
  return oneGrant(database, `SELECT ${grantColumns} FROM device_grants WHERE device_digest = $1`, [digestOfCode(code)])
}

/** Names a grant in the audit. */
export function grantSubject(id: string): string {
  return `device grant ${id}`
}
