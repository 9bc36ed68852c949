/** Points come in by `POST /api/admin/import-points`, and out again by the API of the air-quality network. */

import { gzipSync, zstdCompressSync } from 'node:zlib'
import { fastify } from 'fastify'
import t from 'tap'
import { importPointsGroup } from '../../../api/admin/import-points.ts'
import type { AuditEntry } from '../../../auth/audit.ts'
import { defaultRanges } from '../../../ingest/reading.ts'
import { createRejections } from '../../../ingest/rejections/rejections.ts'
import { everybody, serveEverybody } from '../../support/admin-scope.ts'
import { startAirQuality } from '../../support/air-quality.ts'
import { until } from '../../support/processes.ts'
import { startQuestdb } from '../../support/questdb.ts'

const { address } = await startQuestdb(t)
const { ask, person, keyOf, addStation, people, pointsIngest } = await startAirQuality(t, 60, { questdb: address })
pointsIngest.startForwarding(address.http, true)
const key = await keyOf(await person('operator@example.com', 'operator'))
const audits: AuditEntry[] = []
let isAway = false

const app = fastify()
app.register((scope, _options, done) => {
  const registry: typeof people.stations.registry = async () => {
    if (isAway) throw Object.assign(new Error('away'), { syscall: 'connect' })
    return await people.stations.registry()
  }
  serveEverybody(
    scope,
    importPointsGroup({
      pointsIngest,
      stations: { ...people.stations, registry },
      ranges: defaultRanges,
      aheadMsMax: 300_000,
      audit: async entry => void audits.push(entry),
      findPrincipal: everybody,
      rejections: createRejections({ nowMs: Date.now, senderLog() {} }),
    }),
  )
  done()
})
t.teardown(() => app.close())

const header = 'timestamp,sn,parameter,unit,value\n'

async function post(payload: string | Buffer, headers: Record<string, string> = { 'content-type': 'text/csv' }) {
  const response = await app.inject({ method: 'POST', url: '/import-points', headers, payload })
  return { status: response.statusCode, body: response.json() as Record<string, unknown> }
}

async function pointsOf(sn: string): Promise<Record<string, unknown>[]> {
  await until('the points are visible', () => pointsIngest.status().lag.rows === 0)
  const { body } = await ask('GET', `/device/${sn}/data/?per_page=1000`, { key })
  return body['data'] as Record<string, unknown>[]
}

t.test('every format and coding gives the same points; one sent again replaces the first', async t => {
  const rows = Array.from({ length: 60 }, (_, minute) => {
    return [`2026-05-30T03:${String(minute).padStart(2, '0')}:00`, 'no2', 'ppb', minute / 4] as const
  })
  const csv = (sn: string) => header + rows.map(([time, ...rest]) => [time, sn, ...rest].join(',')).join('\n')
  const ndjson = (sn: string) =>
    rows
      .map(([timestamp, parameter, unit, value]) => JSON.stringify({ timestamp, sn, parameter, unit, value }))
      .join('\n')
  const ways: Record<string, (sn: string) => [string | Buffer, Record<string, string>]> = {
    csv: sn => [csv(sn), { 'content-type': 'text/csv' }],
    gzip: sn => [gzipSync(csv(sn)), { 'content-type': 'text/csv', 'content-encoding': 'gzip' }],
    ndjson: sn => [ndjson(sn), { 'content-type': 'application/x-ndjson' }],
    zstd: sn => [zstdCompressSync(ndjson(sn)), { 'content-type': 'application/x-ndjson', 'content-encoding': 'zstd' }],
  }
  const answers: unknown[] = []
  for (const [sn, request] of Object.entries(ways)) {
    await addStation(sn)
    const { status, body } = await post(...request(sn))
    t.match({ status, body }, { status: 200, body: { accepted: 60, rejected: 0, rejects: [], ignored_columns: [] } })
    const found = await pointsOf(sn)
    answers.push(found.map(({ timestamp, parameter, unit, value_1min }) => [timestamp, parameter, unit, value_1min]))
    t.match((await ask('GET', `/device/${sn}`, { key })).body, { last_updated: /^20/ })
  }
  for (const answer of answers) t.strictSame(answer, rows)
  const [first] = await pointsOf('csv')
  await post(`${header}2026-05-30T03:00:00Z,csv,no2,ppm,9\n`)
  const [again, ...others] = await pointsOf('csv')
  t.match(again, { id: first?.['id'], value_1min: 9, unit: 'ppm' })
  t.equal(others.length, 59)
  t.match(audits[0], { action: 'points.import', subject: 'points', details: { format: 'csv', accepted: 60 } })
})

t.test('a station that is removed, and one that is added again, are others than before', async t => {
  const line = `${header}2026-05-30T03:00:00,moved,no2,ppb,1\n`
  const unknown = { accepted: 0, rejected: 1, rejects: [{ line: 2, sn: 'moved', code: 'STATION_UNKNOWN' }] }
  t.match(await post(line), { status: 200, body: unknown })
  await addStation('moved')
  t.match(await post(line), { status: 200, body: { accepted: 1 } })
  t.equal((await ask('DELETE', '/device/moved', { key })).status, 202)
  t.match(await post(line), { status: 200, body: unknown })
  await addStation('moved')
  t.strictSame(await pointsOf('moved'), [])
})

t.test('while PostgreSQL is away nothing is stored, and the answer says so', async t => {
  isAway = true
  const answer = await post(`${header}2026-05-30T03:00:00,csv,no2,ppb,1\n`)
  t.match(answer, { status: 503, body: { title: 'database unavailable', accepted: 0, detail: /stored are 0 points/ } })
  isAway = false
})
