/** `barograph import-points` against the whole service. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { barograph } from '../support/command-line.ts'
import { temporaryFolder } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { sharedService } from '../support/service.ts'

const header = 'timestamp,sn,parameter,unit,value\n'
const service = await sharedService(t)
const tokenFile = join(service.dataDirectory, 'secrets', 'admin-token')
const folder = temporaryFolder(t)

const run = (words: string[], stdin = '') =>
  barograph(['--url', service.url, '--token-file', tokenFile, 'import-points', ...words], { stdin })

for (const sn of ['POINTS-1', 'POINTS-2']) await service.admin('POST', '/stations', { sn, model: 'M1' })

t.test('a file is stored except for lines with a reason', async t => {
  const file = join(folder, 'points.csv.gz')
  const rejects = join(folder, 'rejects.csv')
  const lines = [
    '2026-05-30T02:20:00,POINTS-1,pm25,ugm3,12.5',
    '2026-05-30T02:20:00,XX-1,pm25,ugm3,12.5',
    '2026-05-30T02:20:00,POINTS-1,noise,ugm3,12.5',
    '2026-05-30T02:21:00,POINTS-1,o3,furlong,12.5',
    '2026-05-30 02:21,POINTS-2,o3,ppb,30',
  ]
  writeFileSync(file, gzipSync(`${header}${lines.join('\n')}\n`))
  const { status, stdout } = await run([file, '--rejects', rejects])
  t.equal(status, 3)
  t.match(stdout, /^stored 2 points, rejected 3,/)
  t.match(stdout, /points\.csv\.gz:3: XX-1: there is no station with this sn\n/)
  t.notMatch(stdout, /create-devices/)
  t.strictSame(readFileSync(rejects, 'utf8').split('\n'), [
    'file,line,code,reason,text',
    `${file},3,STATION_UNKNOWN,there is no station with this sn,"${lines[1]}"`,
    `${file},4,PARAMETER_UNKNOWN,"parameter must be one of so2, o3, no2, no, co, pm1, pm25, pm10","${lines[2]}"`,
    `${file},5,POINT_INVALID,"unit must be one of ppb, ppm, ugm3","${lines[3]}"`,
    '',
  ])
  await until('the station has data', async () => {
    const { body } = await service.admin('GET', '/stations/POINTS-1')
    return (body as { last_data_at: string | null }).last_data_at !== null
  })
})

t.test('a JSON array of points is read like its elements on lines', async t => {
  const point = { timestamp: '2026-05-30T03:00:00', sn: 'POINTS-2', parameter: 'o3', unit: 'ppb', value: 31 }
  t.match(await run(['-'], JSON.stringify([point])), { status: 0 })
  t.match(await run(['-'], JSON.stringify([point, { sn: 'POINTS-2' }])), { status: 3, stderr: /rejected lines: 1/ })
})

t.test('a file without points is refused', async t => {
  const other = await run(['-'], 'timestamp,device,temperature,humidity,pressure\n')
  t.match(other, { status: 1, stderr: /lacks sn, parameter, unit, value/ })
  t.match(await run(['-'], header), { status: 1, stderr: /the files contain no points/ })
  const authorization = `Bearer ${readFileSync(tokenFile, 'utf8').trim()}`
  const post = (type: string) => {
    const init = { method: 'POST', body: header, headers: { authorization, 'content-type': type } }
    return fetch(`${service.url}/api/admin/import-points`, init)
  }
  t.match(await (await post('text/csv')).json(), { title: 'no points', detail: /no line with a point;/ })
  t.equal((await post('application/json')).status, 415)
})
