/** A statement with a list of top rows and a large limit fails any test that starts a QuestDB. */

import pg from 'pg'
import { test } from 'tap'
import { startQuestdb } from '../support/questdb.ts'

test('only a statement with a long list of top rows fails its test', async t => {
  for (const limit of [100, 1_000_000]) {
    const works: (() => unknown)[] = []
    const { address } = await startQuestdb({ teardown: work => void works.unshift(work) })
    const client = new pg.Client({ ...address.pg, ssl: false })
    await client.connect()
    await client.query(`SELECT ts FROM (SELECT ts FROM readings GROUP BY ts) ORDER BY ts LIMIT ${limit}`)
    await client.end()
    const ending = async () => {
      for (const work of works) await work()
    }
    if (limit > 100) await t.rejects(ending(), { message: /^a list of top rows has a large limit: SELECT ts/ })
    else await ending()
  }
})
