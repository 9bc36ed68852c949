/** Files that were stored column by column, by an earlier version. */

import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { test } from 'tap'
import { toBatch } from '../../../query/content/import/batch.ts'
import { ContentFileLine } from '../../../query/content/line.ts'
import { migrate, migrationsFolder } from '../../../store/postgres/migrations.ts'
import { startContentFileStore } from '../../support/content-files.ts'
import { silentLog, temporaryFolder } from '../../support/databases.ts'
import { sampleLines } from '../../support/sample-content-files.ts'

const lastBefore = '003-content-files.sql'

test('files of earlier tables become the text that an import of them would store', async t => {
  const { postgres } = await startContentFileStore(t)
  const { host, port, user, password, database } = postgres.options
  const name = 'earlier'
  const client = new pg.Client({ host, port, user, password, database, options: `-c search_path=${name}` } as object)
  await client.connect()
  t.teardown(() => client.end())
  await client.query(`CREATE SCHEMA ${name}`)
  const folder = join(temporaryFolder(t), 'migrations')
  mkdirSync(folder)
  const copy = (files: string[]) => {
    for (const file of files) copyFileSync(join(migrationsFolder, file), join(folder, file))
  }
  const files = readdirSync(migrationsFolder)
  copy(files.filter(file => file <= lastBefore))
  await migrate(client, folder, silentLog)
  const rows = await insert(client)
  await client.query(`INSERT INTO content_texts VALUES (${rows[0]?.id}, 'The whole text')`)
  await client.query("SELECT setval('content_files_id_seq', 4711)")

  copy(files)
  await migrate(client, folder, silentLog)

  const { rows: moved } = await client.query(`SELECT id::float8, run_id::float8, key_digest, created_on, published,
    edx_module_digest, own_fields::text FROM content_files ORDER BY id`)
  const expected = rows.map(({ id, run_id, created_on = '', published, edx_module_digest, own_fields }) => ({
    id,
    run_id,
    created_on: new Date(created_on),
    published,
    own_fields: JSON.stringify(own_fields),
    key_digest: createHash('sha256').update(own_fields.key).digest(),
    edx_module_digest: edx_module_digest === null ? null : Buffer.from(edx_module_digest.slice('\\x'.length), 'hex'),
  }))
  t.same(moved, expected)
  const { rows: texts } = await client.query('SELECT file_id::float8, content FROM content_texts')
  t.strictSame(texts, [{ file_id: rows[0]?.id, content: 'The whole text' }])
  const { rows: next } = await client.query("SELECT nextval('content_files_id_seq')::float8 AS id")
  t.strictSame(next, [{ id: 4712 }])
  const version = async () => (await client.query('SELECT version FROM content_version')).rows[0].version
  const before = await version()
  await client.query('DELETE FROM content_files')
  t.not(await version(), before)
  t.strictSame((await client.query('SELECT FROM content_texts')).rows.length, 0)
})

/** Inserts the sample into the earlier tables, and returns the rows that an import would make, by id. */
async function insert(client: pg.Client) {
  const { references, files } = toBatch(sampleLines.map(line => ContentFileLine.parse(line)))
  for (const [table, rows] of Object.entries(references)) {
    const sql = `INSERT INTO ${table} SELECT row.* FROM json_populate_recordset(NULL::${table}, $1) row
      ON CONFLICT DO NOTHING`
    await client.query(sql, [JSON.stringify(rows)])
  }
  await client.query("INSERT INTO content_feature_sets (feature_type_ids) VALUES ('{}')")
  const sql = 'INSERT INTO content_files SELECT file.* FROM json_populate_record(NULL::content_files, $1) file'
  for (const { own_fields, ...file } of files) {
    await client.query(sql, [JSON.stringify({ ...file, ...own_fields, feature_set_id: 1 })])
  }
  return files.sort((a, b) => Number(a.id) - Number(b.id))
}
