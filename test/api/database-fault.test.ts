/** Problem documents of reads that QuestDB does not answer: they name the fault that the server knows. */

import type { FastifyInstance } from 'fastify'
import t from 'tap'
import type { Preview } from '../../alerts/preview/preview.ts'
import { exportOperation } from '../../api/admin/export.ts'
import { statusHistoryOperation } from '../../api/admin/status-history.ts'
import { previewOperation } from '../../api/alerts/preview.ts'
import { createConnections } from '../../api/http/connections.ts'
import { addJsonBody } from '../../api/http/json-body.ts'
import { createServer } from '../../api/http/server.ts'
import { BodyInterrupted } from '../../query/pieces.ts'
import { databaseFaultOf } from '../../service/readiness.ts'
import { parseQuestdbAddress } from '../../store/questdb/client/questdb-address.ts'
import { serveEverybody } from '../support/admin-scope.ts'
import { nowhere, silentLog } from '../support/databases.ts'
import { madeMetrics } from '../support/made-metrics.ts'

let fault: string | undefined
let shard: { shard?: number } = {}
const operations = [
  statusHistoryOperation({ address: parseQuestdbAddress(nowhere.questdbHttp, nowhere.questdbPg) }),
  exportOperation({
    readingsExport: {
      pieces: async () => ({ ok: false, code: 'DATABASE_AWAY', ...shard }),
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

t.test('the status history, the export and the preview of a rule', async t => {
  const all = (detail: string) => Array.from({ length: 3 }, () => [503, 'database unavailable', detail])
  t.strictSame(await detailsOf(), all('QuestDB does not answer'), 'where nothing more is known')
  fault = 'QuestDB is starting'
  t.strictSame(await detailsOf(), all('QuestDB is starting'))
  shard = { shard: 2 }
  t.strictSame((await detailsOf())[1], [503, 'database unavailable', 'QuestDB of shard 2 does not answer'])
})

t.test('what a QuestDB lacks is said, and the address of one that is away is not', async t => {
  const known = { reads: () => undefined, postgres: () => undefined }
  const away = { state: 'away', reason: 'QuestDB at 10.0.0.1:9000 cannot be used' } as const
  t.equal(databaseFaultOf({ ...known, questdb: () => away }), 'QuestDB does not answer')
  const lost = { state: 'away', reason: 'it lacks readings', isLost: true } as const
  t.equal(databaseFaultOf({ ...known, questdb: () => lost }), 'it lacks readings')
})
