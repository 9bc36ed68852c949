import pg from 'pg'
import { test } from 'tap'
import { monitorPostgres } from '../../store/postgres/postgres-monitor.ts'
import { freePort } from '../../store/process/free-port.ts'
import { nowhere, startDatabases } from '../support/databases.ts'
import { until } from '../support/processes.ts'

test('a PostgreSQL that is not there is told, and one that is there is not', async t => {
  const { store } = await startDatabases(t, nowhere)
  const { host, user, password, database } = store.postgres.options
  const nobody = new pg.Pool({ host: '127.0.0.1', port: await freePort(), user, database })
  const somebody = new pg.Pool({ host, port: store.postgres.options.port, user, password, database })
  // A pool is over before its connections are, and PostgreSQL, which stops then, says so to those that are left.
  somebody.on('error', () => undefined)
  const monitors = [nobody, somebody].map(pool => monitorPostgres(pool, 20))
  t.teardown(async () => {
    for (const monitor of monitors) monitor.close()
    await Promise.all([nobody.end(), somebody.end()])
  })
  await until('it is told', () => /^PostgreSQL does not answer/.test(monitors[0]?.fault() ?? ''))
  t.equal(monitors[1]?.fault(), undefined)
})
