/**
 * The data of an earlier version under the present service. `fixtures/earlier-release.tar.zst` is a backup by the
 * service of commit 18696e17 (migrations 001 to 050), packed with `tar -S`. It has an administrator, a user, a device,
 * a station and 30 readings. Its journals and QuestDB are files as in the data directory. PostgreSQL is rows, since a
 * cluster takes forty megabytes, and its restore creates the schema of that version first.
 */

import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import t from 'tap'
import { packageVersion } from '../../store/version.ts'
import { barograph } from '../support/command-line.ts'
import { temporaryFolder } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { startService } from '../support/service.ts'

const password = 'correct horse battery'
const devicePassword = '5ad9e3ca538e080d1ffa554fdbb0c5402d40859fbdd824d44cc8607e4c6ca3c8'
const backup = temporaryFolder(t)
const dataDirectory = join(temporaryFolder(t), 'data')
const format = join(dataDirectory, 'format')
const archive = readFileSync(join(import.meta.dirname, 'fixtures', 'earlier-release.tar.zst'))
execFileSync('tar', ['-x', '-C', backup], { input: zstdDecompressSync(archive) })

t.test('the data of an earlier version is complete', async t => {
  const restored = await barograph(['restore', backup], { environment: { DATA_DIR: dataDirectory } })
  t.match(restored, { status: 0, stdout: /restored the backup of 2026-11-30/ })
  rmSync(format)
  const service = await startService(t, { dataDirectory, environment: { PROT: 'no-port' } })
  t.notMatch(service.output(), /"migrations":\[[^\]]*"0(?:[0-4]|50)/, 'no migration up to the baseline is pending')
  t.match(service.output(), /the environment variable PROT is not a setting: PORT may be meant/)
  t.notMatch(service.output(), 'no-port')
  t.strictSame(JSON.parse(readFileSync(format, 'utf8')), { format: 2, version: packageVersion() })
  const readings = async () => {
    const response = await fetch(`${service.url}/api/data/day/porch/2026-11-20`)
    return response.ok
      ? ((await response.json()) as { temperature: { v: number }[] }).temperature.map(({ v }) => v)
      : []
  }
  await until('all are shown', async () => (await readings()).length === 30)
  t.strictSame(
    await readings(),
    Array.from({ length: 30 }, (_, at) => 20 + at / 10),
  )
  const more = { device: 'porch', temperature: 30, humidity: 50, pressure: 1000, timestamp: '2026-11-20T13:00:00Z' }
  t.equal((await service.put('porch', devicePassword, more)).status, 200)
  await until('the new one is shown', async () => (await readings()).length === 31)
  const signIn = (email: string, word: string) =>
    fetch(`${service.url}/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password: word }),
    })
  for (const email of ['ada@example.com', 'bob@example.com'])
    t.equal((await signIn(email, password)).status, 200, email)
  t.equal((await signIn('ada@example.com', 'another one')).status, 401)
  t.match((await service.admin('GET', '/accounts')).body, {
    accounts: [{ role: 'administrator', viewer: false }, { role: 'user' }],
  })
  t.match((await service.admin('GET', '/stations')).body, { stations: [{ sn: 'DEL-01' }] })
  const environment = { DATA_DIR: dataDirectory, PORT: new URL(service.url).port }
  const run = async (words: string[], more = {}) =>
    (await barograph(words, { environment: { ...environment, ...more } })).stdout
  t.match(await run(['status']), `server  `)
  t.match(await run(['status']), `Barograph ${packageVersion()} at ${service.url}`)
  const doctor = await run(['doctor'], { PROT: '9401' })
  t.match(doctor, new RegExp(`^ok +Barograph +${packageVersion().replaceAll('.', '\\.')}$`, 'm'))
  t.match(doctor, /^problem +settings +the environment variable PROT is not a setting: PORT may be meant$/m)
  t.equal(await service.end('SIGTERM'), 0)
})
