/** The broken builds can still be made: what each of them changes is still there, and what it imports. `npm run faults -- --broken` runs them. */

import { join, resolve } from 'node:path'
import { test } from 'tap'
import { temporaryFolder } from '../support/databases.ts'
import { type BrokenBuild, brokenBuilds, changesOf } from './broken-builds.ts'
import { brokenClusterBuilds } from './cluster/broken-builds.ts'
import { changedTexts, copySource } from './copy-source.ts'

test('every broken build finds the place that it breaks', async t => {
  const source = resolve(import.meta.dirname, '..', '..')
  const builds = [...brokenBuilds, ...brokenClusterBuilds(3)]
  for (const build of builds) t.doesNotThrow(() => changedTexts(source, changesOf(build)), build.name)
  const gone = [{ file: 'ingest/journal/disk.ts', from: 'this is not there', to: '' }]
  t.throws(() => changedTexts(source, gone), /does not have this once/)

  const copy = join(temporaryFolder(t), 'broken')
  copySource(source, copy, changesOf(builds[0] as BrokenBuild))
  await t.resolves(import(join(copy, 'service', 'service.ts')), 'the copy is whole')
})
