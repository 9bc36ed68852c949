/** The programs of PostgreSQL as npm has left them. */

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { binariesIn, postgresBinaries } from '../../store/postgres/postgres-binaries.ts'
import { temporaryFolder } from '../support/databases.ts'

test('a package whose install script did not run is told with the remedy', async t => {
  const folder = temporaryFolder(t)
  for (const name of ['bin', 'lib']) mkdirSync(join(folder, 'native', name), { recursive: true })
  for (const name of ['bin/initdb', 'bin/postgres', 'lib/libpq.so.5.18'])
    writeFileSync(join(folder, 'native', name), '')
  const links = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }]
  writeFileSync(join(folder, 'native', 'pg-symlinks.json'), JSON.stringify(links))
  const message = /install script of the PostgreSQL package did not run: run "script\/npm ci" again .*DATABASE_URL/
  t.throws(() => binariesIn(folder), { name: 'StartError', message })
  symlinkSync('libpq.so.5.18', join(folder, 'native', 'lib', 'libpq.so.5'))
  t.equal(binariesIn(folder).postgres, join(folder, 'native', 'bin', 'postgres'))
})

test('the installed package is whole', async t => {
  t.match(postgresBinaries().postgres, /native\/bin\/postgres$/)
})
