/** Responses to faults: an unavailable QuestDB, a credential that ends meanwhile, and internal errors, which are logged. */

import { type FastifyInstance, fastify } from 'fastify'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import type { Preview } from '../../alerts/preview/preview.ts'
import { exportOperation } from '../../api/admin/export.ts'
import { statusHistoryOperation } from '../../api/admin/status-history.ts'
import { previewOperation } from '../../api/alerts/preview.ts'
import { addJsonBody } from '../../api/http/request-body.ts'
import { BusyError } from '../../api/http/send-budget.ts'
import { createServer } from '../../api/http/server.ts'
import { loggerFamily } from '../../api/logger/logger.ts'
import { defaultRanges } from '../../ingest/reading.ts'
import { BodyInterrupted } from '../../query/pieces.ts'
import { databaseFaultOf } from '../../service/readiness.ts'
import { createConnections } from '../../store/limits/connections.ts'
import { parseQuestdbAddress } from '../../store/questdb/client/questdb-address.ts'
import { serveEverybody } from '../support/admin-scope.ts'
import { nowhere, silentLog } from '../support/databases.ts'
import { madeMetrics } from '../support/made-metrics.ts'
import { openReadsOf } from '../support/open-reads.ts'

let fault: string | undefined
const operations = [
  statusHistoryOperation({ address: parseQuestdbAddress(nowhere.questdbHttp, nowhere.questdbPg) }),
  exportOperation({
    readingsExport: {
      pieces: async () => ({ ok: false, code: 'DATABASE_AWAY' }),
      close: async () => undefined,
    },
    devices: { get: () => undefined, all: () => [] },
    metrics: madeMetrics(),
    nowMs: Date.now,
    aheadMsMax: 0,
    audit: async () => undefined,
    log: silentLog,
  }),
  previewOperation({
    alerts: { preview: { run: () => Promise.reject(new BodyInterrupted('DATABASE_AWAY')) } as unknown as Preview },
    nowMs: Date.now,
  }),
]
function register(scope: FastifyInstance): void {
  addJsonBody(scope)
  serveEverybody(scope, { operations })
}
const app = createServer({
  config: { TLS_CERT: undefined, TLS_KEY: undefined, TRUST_PROXY: undefined, CACHE_BYTES_MAX: 1e8 },
  connections: createConnections({ max: 10, perAddress: 10, isTrusted: () => false, log: silentLog }),
  measure: () => undefined,
  databaseFault: () => fault,
  log: silentLog,
  families: [{ prefix: '/api/x', published: [], register }],
})
t.teardown(() => app.close())

const rule = { name: 'warm', selector: { all: true }, condition: { kind: 'above', metric: 'temperature', value: 30 } }

async function detailsOf(): Promise<unknown[]> {
  const answers = [
    await app.inject('/api/x/status/history'),
    await app.inject('/api/x/export'),
    await app.inject({ method: 'POST', url: '/api/x/preview', payload: { rule } }),
  ]
  return answers.map(answer => [answer.statusCode, answer.json().title, answer.json().detail])
}

t.test('the status history, the export and the preview of a rule report the fault of QuestDB', async t => {
  const all = (detail: string) => Array.from({ length: 3 }, () => [503, 'database unavailable', detail])
  t.strictSame(await detailsOf(), all('QuestDB does not answer'), 'where nothing more is known')
  fault = 'QuestDB is starting'
  t.strictSame(await detailsOf(), all('QuestDB is starting'))
})

t.test("a response describes QuestDB's fault, without the address of an unavailable one", async t => {
  const known = { reads: () => undefined, postgres: () => undefined }
  const away = { state: 'away', reason: 'QuestDB at 10.0.0.1:9000 cannot be used' } as const
  t.equal(databaseFaultOf({ ...known, questdb: () => away }), 'QuestDB does not answer')
  const lost = { state: 'away', reason: 'it lacks readings', isLost: true } as const
  t.equal(databaseFaultOf({ ...known, questdb: () => lost }), 'it lacks readings')
})

/** The logger with these parts, and the lines of its log. */
function serveLogger(t: Test, parts: object) {
  const lines: string[] = []
  const log = pino({}, { write: (line: string) => void lines.push(line) })
  const app = fastify()
  const { prefix, register } = loggerFamily({
    log,
    access: openReadsOf([]),
    events: { ingest: { onStored: () => undefined }, nowMs: () => 0 },
    annotations: {},
    contacts: {},
    ingest: { ranges: defaultRanges },
    batch: { ingest: {}, ranges: defaultRanges },
    live: {},
    stations: { query: {} },
    reads: { query: {}, readings: {} },
    ...parts,
  } as never)
  app.register(async scope => register(scope), { prefix })
  t.teardown(() => app.close())
  return { app, lines }
}

const latestAll = (read: () => unknown) => ({ reads: { query: { latestAll: read }, readings: {} } })

t.test('the log has the error and its place', async t => {
  const fail = () => {
    throw new Error('a column lost a row')
  }
  const { app, lines } = serveLogger(t, latestAll(fail))
  const response = await app.inject({ url: '/api/latest/all/24' })
  t.strictSame([response.statusCode, response.json()], [500, { status: 'internal error' }])
  t.match(JSON.parse(lines[0] ?? '').err, { message: 'a column lost a row', stack: /faults\.test\.ts/ })
})

t.test('a read without a database has the reason', async t => {
  let fault: string | undefined = 'QuestDB is starting'
  const away = latestAll(async () => ({ ok: false, code: 'DATABASE_AWAY' }))
  const { app } = serveLogger(t, { ...away, live: { live: { isLoaded: () => false } } })
  app.decorate('databaseFault', () => fault)
  const status = 'database unavailable'
  for (const path of ['/api/latest/all/24', '/api/fleet']) {
    const answer = await app.inject(path)
    t.strictSame([answer.statusCode, answer.json()], [503, { status, detail: 'QuestDB is starting' }], path)
  }
  fault = undefined
  t.strictSame((await app.inject('/api/fleet')).json(), { status }, 'where nothing more is known')
})

t.test('the fleet in memory includes the fault of its QuestDB', async t => {
  let missing: string | undefined = 'it lacks readings'
  const page = () => ({ devices: [], metrics: {}, last: undefined })
  const live = { isLoaded: () => true, isCatchingUp: () => false, page, counts: () => ({}) }
  const { app } = serveLogger(t, { live: { live, missing: () => missing, timeZone: 'UTC', nowMs: () => 0 } })
  t.match((await app.inject('/api/fleet?limit=1')).json(), { devices: [], missing })
  missing = undefined
  t.notOk('missing' in (await app.inject('/api/fleet?limit=2')).json())
})

t.test('a response without memory to send it is not logged', async t => {
  const full = () => {
    throw new BusyError('no room')
  }
  const { app, lines } = serveLogger(t, latestAll(full))
  const response = await app.inject({ url: '/api/latest/all/24' })
  t.strictSame([response.statusCode, response.json()], [503, { status: 'too many large answers at once' }])
  t.strictSame(lines, [])
})

t.test('a failed look-up of an API key is retryable, unlike an internal error', async t => {
  let fault: Error = Object.assign(new Error('connect ECONNREFUSED'), { syscall: 'connect', code: 'ECONNREFUSED' })
  const rejections: string[] = []
  const findPrincipal = async () => {
    throw fault
  }
  const meter = { rejected: (reason: string) => rejections.push(reason) }
  const { app } = serveLogger(t, { ingest: { ranges: defaultRanges, writers: {}, findPrincipal, meter } })
  const put = () => app.inject({ method: 'PUT', url: '/api/log', headers: { 'x-api-key': 'x' }, payload: {} })
  const away = await put()
  t.match(away, { statusCode: 503, headers: { 'retry-after': '5', connection: 'close' } })
  t.strictSame(away.json(), { status: 'database unavailable' })
  fault = new Error('a column lost a row')
  t.strictSame([(await put()).statusCode, rejections], [500, ['database_away', 'unknown']])
})

t.test('a reading is rejected if its key is revoked while a device is added for it', async t => {
  for (const ends of [true, false]) {
    let isRevoked = false
    const renewed = async () => (isRevoked ? 'UNAUTHENTICATED' : writer)
    const writer = { device: undefined, id: 'key 1', renewed }
    const [isPreparing, prepared] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()]
    const taken: object[] = []
    const intake = {
      prepare() {
        isPreparing.resolve()
        return prepared.promise
      },
      async take(_writer: unknown, body: object) {
        taken.push(body)
        return { ignored: undefined, leftOut: [] }
      },
    }
    const { app } = serveLogger(t, {
      ingest: {
        ranges: defaultRanges,
        writers: { ofPrincipal: () => writer },
        findPrincipal: async () => undefined,
        meter: { rejected: () => undefined },
        intake,
      },
    })
    const headers = { 'x-api-key': 'x' }
    const asked = app.inject({ method: 'PUT', url: '/api/log', headers, payload: { device: 'new' } })
    const answered = asked.then(({ statusCode }) => statusCode)
    await isPreparing.promise
    isRevoked = ends
    prepared.resolve(undefined)
    t.equal(await answered, ends ? 401 : 200)
    t.strictSame(taken, ends ? [] : [{ device: 'new' }])
  }
})
