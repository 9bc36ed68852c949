/** A device's request for an API key: its states, its codes, and how it is read. */

import { hash, randomBytes, randomInt } from 'node:crypto'
import type { Transaction } from '../../store/postgres/transaction.ts'
import type { RateLimit } from '../rate-limits.ts'

export const startsByNetwork: RateLimit = { kind: 'device start', countMax: 10, windowMs: 60_000 }
export const pendingPerNetworkMax = 20
/** All requests that have not expired. */
export const grantsMax = 10_000

export const pollIntervalSeconds = 5
/** Added by each early poll (`slow_down` of RFC 8628), up to a maximum. */
export const slowDownSeconds = 5
export const pollIntervalSecondsMax = 30

/** Vowels would form words, and the other missing characters look alike. */
const letters = 'BCDFGHJKLMNPQRSTVWXZ'
const typedLetters = `${letters}${letters.toLowerCase()}`
const userCodeLength = 8
const deviceCodeBytes = 32

export function createUserCode(): string {
  return Array.from({ length: userCodeLength }, () => letters[randomInt(letters.length)]).join('')
}

/** Shown form: `BCDF-GHJK`. */
export function formatUserCode(code: string): string {
  return `${code.slice(0, userCodeLength / 2)}-${code.slice(userCodeLength / 2)}`
}

/** Parses a typed code without regard to case, hyphens and spaces. Undefined for impossible codes. */
export function parseUserCode(typed: string): string | undefined {
  const code = typed.replaceAll(/[-\s]/g, '')
  if (code.length !== userCodeLength) return undefined
  // Checked before the case changes, which maps other letters to these.
  return [...code].every(letter => typedLetters.includes(letter)) ? code.toUpperCase() : undefined
}

export function createDeviceCode(): string {
  return randomBytes(deviceCodeBytes).toString('base64url')
}

export function isDeviceCode(text: string): boolean {
  return /^[\w-]{43}$/.test(text)
}

export function digestOfCode(code: string): Buffer {
  return hash('sha256', code, 'buffer')
}

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
