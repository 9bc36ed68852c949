/**
 * Takes a reading that came with an idempotency key. Its first request claims the key and a stamp; each one appends the
 * same record, so that however often it is sent, and wherever the process ended in between, one row is stored.
 */

import { hash } from 'node:crypto'
import type { Ingest } from '../../ingest/ingest.ts'
import type { Claims } from '../idempotency/claims.ts'
import { type IntakeOptions, type KeyedReading, writeRefusals } from './intake.ts'
import { claimRefusals } from './key-errors.ts'

export interface AcceptOnceOptions {
  ingest: Pick<Ingest, 'accept' | 'acceptStamped'>
  claims: Pick<Claims, 'claim'>
}

export function createAcceptOnce({ ingest, claims }: AcceptOnceOptions): IntakeOptions['acceptOnce'] {
  return async ({ key, writer, device, reading, body }: KeyedReading) => {
    const fingerprint = hash('sha256', `PUT /api/log\n${JSON.stringify(body)}`, 'buffer')
    const needsStamp = reading.timestampMs === undefined
    const claim = await claims.claim({ writer: writer.id, key, fingerprint, needsStamp })
    if (claim.kind !== 'claimed') return claimRefusals[claim.kind]
    // It may have been changed meanwhile.
    const found = writer.find(device.name)
    if (typeof found === 'string') return writeRefusals[found]
    if (claim.stampUs === undefined) return await ingest.accept(found, reading)
    return await ingest.acceptStamped(found, reading, claim.stampUs)
  }
}
