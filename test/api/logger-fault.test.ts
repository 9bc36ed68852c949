/** A fault of ours in the logger API: the client learns nothing of it, the log all. */

import { fastify } from 'fastify'
import { pino } from 'pino'
import { test } from 'tap'
import { BusyError } from '../../api/http/send-budget.ts'
import { type LoggerOptions, loggerFamily } from '../../api/logger/logger.ts'

const events = { ingest: { onStored: () => undefined } } as never

test('the log tells what went wrong, and where', async t => {
  let logged = ''
  const log = pino({}, { write: (line: string) => (logged += line) })
  const app = fastify()
  const fail = () => {
    throw new Error('a column lost a row')
  }
  const { prefix, register } = loggerFamily({
    log,
    ingest: {} as LoggerOptions['ingest'],
    batch: { ingest: {} } as LoggerOptions['batch'],
    reads: { query: { latestAll: fail }, devices: { active: () => [] }, readings: {} } as never,
    live: {} as LoggerOptions['live'],
    events,
  })
  app.register(async scope => register(scope), { prefix })
  t.teardown(() => app.close())
  const response = await app.inject({ url: '/api/latest/all/24' })
  t.equal(response.statusCode, 500)
  t.strictSame(response.json(), { status: 'internal error' })
  const { err } = JSON.parse(logged)
  t.match(err, { message: 'a column lost a row', stack: /logger-fault\.test\.ts/ })
})

test('an answer that has no room to be sent is told without a word in the log', async t => {
  let logged = ''
  const app = fastify()
  const { prefix, register } = loggerFamily({
    log: pino({}, { write: (line: string) => (logged += line) }),
    ingest: {} as LoggerOptions['ingest'],
    batch: { ingest: {} } as LoggerOptions['batch'],
    live: {} as LoggerOptions['live'],
    reads: {
      query: {
        latestAll() {
          throw new BusyError('no room')
        },
      },
      devices: { active: () => [] },
      readings: {},
    } as never,
    events,
  })
  app.register(async scope => register(scope), { prefix })
  t.teardown(() => app.close())
  const response = await app.inject({ url: '/api/latest/all/24' })
  t.equal(response.statusCode, 503)
  t.strictSame(response.json(), { status: 'too many large answers at once' })
  t.equal(logged, '')
})
