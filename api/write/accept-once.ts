/**
 * Accepts a reading with an idempotency key. Its first request claims the key and a receipt time. A repeated request
 * appends the same record unless it is known to be stored, so one row is stored wherever a process ended.
 */

import { hash } from 'node:crypto'
import type { Claims } from '../../ingest/idempotency/claims.ts'
import type { Ingest } from '../../ingest/ingest.ts'
import { type IntakeOptions, invalidReading, type KeyedReading, refusalOfWrite } from '../../ingest/intake/intake.ts'
import { expiredReason, type TimeLimits } from '../../ingest/reading.ts'
import { claimRefusals } from './key-errors.ts'

export interface AcceptOnceOptions {
  ingest: Pick<Ingest, 'accept'>
  claims: Pick<Claims, 'claim' | 'once'>
  earliestMs?: TimeLimits['earliestMs']
}

export function createAcceptOnce({ ingest, claims, earliestMs }: AcceptOnceOptions): IntakeOptions['acceptOnce'] {
  return async ({ key, renewed, writer, device, reading, body }: KeyedReading) => {
    const fingerprint = hash('sha256', `PUT /api/log\n${JSON.stringify(body)}`, 'buffer')
    const needsStamp = reading.timestampMs === undefined
    const claim = await claims.claim({ writer: writer.id, key, fingerprint, needsStamp })
    if (claim.kind !== 'claimed') return claimRefusals[claim.kind]
    const { stampUs } = claim
    // The number distinguishes it from a later device with the same name.
    return await claims.once(claim, `${device.number}`, async () => {
      const now = await renewed()
      if ('code' in now) return now
      const found = now.find(device.name)
      if (typeof found === 'string') return refusalOfWrite(found, now, device.name)
      if (found !== device) return refusalOfWrite('DEVICE_SUSPENDED', now, device.name)
      const fromMs = earliestMs?.() ?? Number.NEGATIVE_INFINITY
      if ((reading.timestampMs ?? fromMs) < fromMs) return invalidReading({ timestamp: expiredReason(fromMs) })
      return await ingest.accept(device, reading, stampUs)
    })
  }
}
