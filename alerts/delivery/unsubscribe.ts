/** Unsubscribes from a mail channel by a link (RFC 8058) with 256 random bits. Only a digest is stored. */

import { hash, randomBytes } from 'node:crypto'
import type pg from 'pg'
import { writeAudit } from '../../auth/audit.ts'
import { inTransaction, type Transaction } from '../../store/postgres/transaction.ts'
import { disableChannel } from '../store/channel-rows.ts'

const tokenBytes = 32
const stepMs = 4000

export function createUnsubscribeToken(): string {
  return randomBytes(tokenBytes).toString('base64url')
}

/** Replaces the token of a mail channel. Without an address or a token nothing changes. */
export async function saveUnsubscribe(
  transaction: Transaction,
  saved: { channel: number; address: unknown; token: string | undefined; nowMs: number },
): Promise<void> {
  const { channel, address, token, nowMs } = saved
  if (typeof address !== 'string' || token === undefined) return
  await transaction.query('DELETE FROM alert_unsubscribes WHERE channel_id = $1', [channel])
  await transaction.query(
    `INSERT INTO alert_unsubscribes (digest, channel_id, address, created_at)
     VALUES ($1, $2, $3, to_timestamp($4::float8 / 1000))`,
    [digestOf(token), channel, address, nowMs],
  )
}

export interface Unsubscribing {
  /** The address of a link. Undefined for an invalid link. */
  addressOf(token: string): Promise<string | undefined>
  /** Disables the channel, or leaves it disabled. False for an invalid link. */
  unsubscribe(token: string): Promise<boolean>
}

export function createUnsubscribing(options: { pool: pg.Pool; nowMs: () => number }): Unsubscribing {
  const { pool, nowMs } = options

  async function find(database: Transaction, token: string) {
    const text = 'SELECT channel_id, address FROM alert_unsubscribes WHERE digest = $1'
    return (await database.query<{ channel_id: number; address: string }>(text, [digestOf(token)])).rows[0]
  }

  return {
    addressOf: async token => (await find(pool, token))?.address,
    unsubscribe: async token =>
      await inTransaction(pool, { stepMs }, async transaction => {
        const found = await find(transaction, token)
        if (found === undefined) return false
        const channel = found.channel_id
        if (await disableChannel(transaction, { channel, reason: 'unsubscribed', nowMs: nowMs() })) {
          const subject = `alert channel ${channel}`
          await writeAudit(transaction, { actor: 'unsubscribe link', action: 'alert-channel.unsubscribe', subject })
        }
        return true
      }),
  }
}

function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

/** The page by which a recipient of mails leaves a channel. */
export const unsubscribePath = '/alerts/unsubscribe'
