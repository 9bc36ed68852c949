/** A fault of ours in the logger API: the client learns nothing of it, the log all. */

import { fastify } from 'fastify'
import { pino } from 'pino'
import { test } from 'tap'
import { BusyError } from '../../api/http/send-budget.ts'
import { type LoggerOptions, loggerFamily } from '../../api/logger/logger.ts'
import { defaultRanges } from '../../ingest/reading.ts'
import { openReadsOf } from '../support/open-reads.ts'

const access = openReadsOf([])
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
    access,
    ingest: { ranges: defaultRanges } as LoggerOptions['ingest'],
    batch: { ingest: {}, ranges: defaultRanges } as LoggerOptions['batch'],
    reads: { query: { latestAll: fail }, readings: {} } as never,
    stations: { query: {} } as LoggerOptions['stations'],
    live: {} as LoggerOptions['live'],
    events,
    annotations: {} as LoggerOptions['annotations'],
  })
  app.register(async scope => register(scope), { prefix })
  t.teardown(() => app.close())
  const response = await app.inject({ url: '/api/latest/all/24' })
  t.equal(response.statusCode, 500)
  t.strictSame(response.json(), { status: 'internal error' })
  const { err } = JSON.parse(logged)
  t.match(err, { message: 'a column lost a row', stack: /logger-fault\.test\.ts/ })
})

test('a read that finds no database says why', async t => {
  const app = fastify()
  let fault: string | undefined = 'QuestDB is starting'
  const away = async () => ({ ok: false, code: 'DATABASE_AWAY' })
  app.decorate('databaseFault', () => fault)
  const { prefix, register } = loggerFamily({
    log: pino({ level: 'silent' }),
    access,
    ingest: { ranges: defaultRanges } as LoggerOptions['ingest'],
    batch: { ingest: {}, ranges: defaultRanges } as LoggerOptions['batch'],
    reads: { query: { latestAll: away }, readings: {} } as never,
    stations: { query: {} } as LoggerOptions['stations'],
    live: { live: { isLoaded: () => false } } as never,
    events,
    annotations: {} as LoggerOptions['annotations'],
  })
  app.register(async scope => register(scope), { prefix })
  t.teardown(() => app.close())
  const status = 'database unavailable'
  for (const path of ['/api/latest/all/24', '/api/fleet']) {
    const answer = await app.inject(path)
    t.strictSame([answer.statusCode, answer.json()], [503, { status, detail: 'QuestDB is starting' }], path)
  }
  fault = undefined
  t.strictSame((await app.inject('/api/fleet')).json(), { status }, 'where nothing more is known')
})

test('the fleet in memory comes with what its QuestDB lacks', async t => {
  const app = fastify()
  let missing: string | undefined = 'it lacks readings'
  const live = {
    isLoaded: () => true,
    isCatchingUp: () => false,
    page: () => ({ devices: [], metrics: {}, last: undefined }),
    counts: () => ({}),
  }
  const { prefix, register } = loggerFamily({
    log: pino({ level: 'silent' }),
    access,
    ingest: { ranges: defaultRanges } as LoggerOptions['ingest'],
    batch: { ingest: {}, ranges: defaultRanges } as LoggerOptions['batch'],
    reads: { query: {}, readings: {} } as never,
    stations: { query: {} } as LoggerOptions['stations'],
    live: { live, missing: () => missing, timeZone: 'UTC', nowMs: () => 0 } as never,
    events,
    annotations: {} as LoggerOptions['annotations'],
  })
  app.register(async scope => register(scope), { prefix })
  t.teardown(() => app.close())
  t.match((await app.inject('/api/fleet?limit=1')).json(), { devices: [], missing })
  missing = undefined
  t.notOk('missing' in (await app.inject('/api/fleet?limit=2')).json())
})

test('an answer that has no room to be sent is told without a word in the log', async t => {
  let logged = ''
  const app = fastify()
  const { prefix, register } = loggerFamily({
    log: pino({}, { write: (line: string) => (logged += line) }),
    access,
    ingest: { ranges: defaultRanges } as LoggerOptions['ingest'],
    batch: { ingest: {}, ranges: defaultRanges } as LoggerOptions['batch'],
    stations: { query: {} } as LoggerOptions['stations'],
    live: {} as LoggerOptions['live'],
    reads: {
      query: {
        latestAll() {
          throw new BusyError('no room')
        },
      },
      readings: {},
    } as never,
    events,
    annotations: {} as LoggerOptions['annotations'],
  })
  app.register(async scope => register(scope), { prefix })
  t.teardown(() => app.close())
  const response = await app.inject({ url: '/api/latest/all/24' })
  t.equal(response.statusCode, 503)
  t.strictSame(response.json(), { status: 'too many large answers at once' })
  t.equal(logged, '')
})

test('an API key that cannot be looked up is worth another try, and a fault of ours is one', async t => {
  const app = fastify()
  let fault: Error = Object.assign(new Error('connect ECONNREFUSED'), { syscall: 'connect', code: 'ECONNREFUSED' })
  const rejections: string[] = []
  const { prefix, register } = loggerFamily({
    log: pino({ level: 'silent' }),
    access,
    events,
    annotations: {} as LoggerOptions['annotations'],
    ingest: {
      ranges: defaultRanges,
      writers: {},
      findPrincipal: async () => {
        throw fault
      },
      meter: { rejected: (reason: string) => rejections.push(reason) },
    } as never,
    batch: { ingest: {}, ranges: defaultRanges } as never,
    live: {} as never,
    stations: {} as never,
    reads: { readings: {} } as never,
  })
  app.register(async scope => register(scope), { prefix })
  t.teardown(() => app.close())
  const put = () => app.inject({ method: 'PUT', url: '/api/log', headers: { 'x-api-key': 'x' }, payload: {} })
  const away = await put()
  t.match(away, { statusCode: 503, headers: { 'retry-after': '5', connection: 'close' } })
  t.strictSame(away.json(), { status: 'database unavailable' })
  fault = new Error('a column lost a row')
  t.strictSame([(await put()).statusCode, rejections], [500, ['database_away', 'unknown']])
})
