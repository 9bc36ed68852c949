/** `PUT /api/log` by an API key that ends while the request is under way. */

import { fastify } from 'fastify'
import { pino } from 'pino'
import { type Test, test } from 'tap'
import { type LoggerOptions, loggerFamily } from '../../../api/logger/logger.ts'
import type { Intake } from '../../../api/write/intake.ts'
import type { CredentialWriter } from '../../../auth/writers.ts'
import { defaultRanges } from '../../../ingest/reading.ts'
import { openReadsOf } from '../../support/open-reads.ts'

/** `prepare` waits until the test lets it go on. */
function startLog(t: Test) {
  const app = fastify()
  let isRevoked = false
  const renewed = async () => (isRevoked ? 'UNAUTHENTICATED' : writer)
  const writer = { device: undefined, id: 'key 1', renewed } as unknown as CredentialWriter
  const [isPreparing, prepared] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()]
  const taken: object[] = []
  const intake: Intake = {
    prepare() {
      isPreparing.resolve()
      return prepared.promise
    },
    async take(_writer, body) {
      taken.push(body as object)
      return { ignored: undefined, leftOut: [] }
    },
  }
  const { prefix, register } = loggerFamily({
    log: pino({ level: 'silent' }),
    access: openReadsOf([]),
    events: { ingest: { onStored: () => undefined } } as never,
    annotations: {} as LoggerOptions['annotations'],
    ingest: {
      ranges: defaultRanges,
      writers: { ofPrincipal: () => writer },
      findPrincipal: async () => undefined,
      meter: { rejected: () => undefined },
      intake,
    } as never,
    batch: { ingest: {}, ranges: defaultRanges } as never,
    live: {} as never,
    stations: {} as never,
    reads: { readings: {} } as never,
  })
  app.register(async scope => register(scope), { prefix })
  t.teardown(() => app.close())
  return {
    isPreparing: isPreparing.promise,
    taken,
    put: (payload: object) => app.inject({ method: 'PUT', url: '/api/log', headers: { 'x-api-key': 'x' }, payload }),
    revoke() {
      isRevoked = true
    },
    goOn: () => prepared.resolve(undefined),
  }
}

test('a reading whose key is revoked while a device is added for it is not taken', async t => {
  const { put, isPreparing, revoke, goOn, taken } = startLog(t)
  const answer = put({ device: 'new' })
  await isPreparing
  revoke()
  goOn()
  t.equal((await answer).statusCode, 401)
  t.strictSame(taken, [])
})

test('without a revocation it is', async t => {
  const { put, isPreparing, goOn, taken } = startLog(t)
  const answer = put({ device: 'new' })
  await isPreparing
  goOn()
  t.equal((await answer).statusCode, 200)
  t.strictSame(taken, [{ device: 'new' }])
})
