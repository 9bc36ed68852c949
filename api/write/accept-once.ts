/** Accepts a request with an idempotency key once. */

import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { mayHoldKey } from '../../auth/keys/key-text.ts'
import type { Writer } from '../../auth/writers.ts'
import type { Claims } from '../../ingest/idempotency/claims.ts'
import type { Ingest } from '../../ingest/ingest.ts'
import { type IntakeOptions, invalidReading, type KeyedReading, refusalOfWrite } from '../../ingest/intake/intake.ts'
import { sourceOf } from '../../ingest/intake/rejection-source.ts'
import { expiredReason, type TimeLimits } from '../../ingest/reading.ts'
import type { RejectionSource, RejectionWay } from '../../ingest/rejections/rejection.ts'
import { readBasicCredentials } from '../http/credentials.ts'
import { claimRefusals } from './find-writer.ts'

export function sourceOfRequest(
  way: RejectionWay,
  writer: Pick<Writer, 'id' | 'device'> | null | undefined,
  { ip, raw }: Pick<FastifyRequest, 'ip' | 'raw'>,
): RejectionSource {
  const source = sourceOf(way, writer, ip)
  if (source.sender.isKnown) return source
  const name = readBasicCredentials(raw.rawHeaders)?.name ?? ''
  // An API key in place of a name stays secret.
  return name === '' || mayHoldKey(name) ? source : { ...source, device: name }
}

interface AcceptOnceOptions {
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
