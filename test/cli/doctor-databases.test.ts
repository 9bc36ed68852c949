/** The doctor checks given databases before the first start. */

import t from 'tap'
import { barograph } from '../support/command-line.ts'
import { temporaryFolder } from '../support/databases.ts'
import { startTcpPostgres } from '../support/tcp-postgres.ts'
import { startLentDatabases } from '../support/worker-questdb.ts'

const { store } = await startLentDatabases(t)
const { password, url } = await startTcpPostgres(t)
const { http, pg } = store.questdb.address
const [name, secret] = Buffer.from((http.authorization ?? '').slice('Basic '.length), 'base64')
  .toString()
  .split(':')
const good = {
  DATA_DIR: temporaryFolder(t),
  PORT: '1',
  DATABASE_URL: url,
  QUESTDB_HTTP: `http://${name}:${secret}@127.0.0.1:${http.port}`,
  QUESTDB_PG: `postgresql://${pg.user}:${pg.password}@127.0.0.1:${pg.port}/qdb`,
}

async function examine(changed: Record<string, string>) {
  const { stdout } = await barograph(['doctor', '--json'], { environment: { ...good, ...changed } })
  const { checks } = JSON.parse(stdout) as { checks: { name: string; ok: boolean; finding: string }[] }
  t.notMatch(stdout, new RegExp(`${password}|${secret}|wrong-one`), 'no credentials are shown')
  return (what: string) => checks.find(check => check.name === what)
}

t.test('usable databases are reported with their versions', async t => {
  const check = await examine({})
  t.match(check('PostgreSQL'), { ok: true, finding: /^18.* at 127\.0\.0\.1:\d+, database postgres$/ })
  t.match(check('QuestDB'), { ok: true, finding: /^9.* at 127\.0\.0\.1:\d+$/ })
})

t.test('unusable databases come with the setting to correct', async t => {
  const refused = await examine({ DATABASE_URL: url.replace(password, 'wrong-one') })
  t.match(refused('PostgreSQL'), { ok: false, finding: /correct the user or the password in DATABASE_URL/ })
  const nobody = { DATABASE_URL: 'postgresql://127.0.0.1:1/x', QUESTDB_HTTP: 'http://a:wrong-one@127.0.0.1:1' }
  const away = await examine(nobody)
  t.match(away('PostgreSQL'), {
    ok: false,
    finding: /^PostgreSQL at 127\.0\.0\.1:1, .*ECONNREFUSED.*start it, or correct DATABASE_URL/,
  })
  t.match(away('QuestDB'), { ok: false, finding: /^QuestDB at 127\.0\.0\.1:1 cannot be used .*correct QUESTDB_HTTP/ })
  const half = await examine({ QUESTDB_PG: 'postgresql://127.0.0.1:1/qdb' })
  t.match(half('QuestDB'), { ok: false, finding: /over the PostgreSQL protocol at 127\.0\.0\.1:1/ })
})
