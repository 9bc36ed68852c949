/** The broken builds can still be made: what each of them changes is still there, and what it imports. `npm run faults -- --broken` runs them. */

import { join, resolve } from 'node:path'
import { test } from 'tap'
import { temporaryFolder } from '../support/databases.ts'
import { brokenBuilds } from './broken-builds.ts'
import { brokenClusterBuilds } from './cluster/broken-builds.ts'
import { copySource } from './copy-source.ts'

test('every broken build finds the place that it breaks', async t => {
  const folder = temporaryFolder(t)
  const source = resolve(import.meta.dirname, '..', '..')
  for (const [index, { name, changes }] of [...brokenBuilds, ...brokenClusterBuilds(3)].entries()) {
    t.doesNotThrow(() => copySource(source, join(folder, String(index)), changes), name)
  }
  await t.resolves(import(join(folder, '0', 'service', 'service.ts')), 'the copy is whole')
  const gone = [{ file: 'ingest/journal/disk.ts', from: 'this is not there', to: '' }]
  t.throws(() => copySource(source, join(folder, 'gone'), gone), /does not have this once/)
})
