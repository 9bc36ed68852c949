/** Each snippet that injected faults and broken builds replace exists. `npm run faults -- --broken` runs the builds. */

import { readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { test } from 'tap'
import { temporaryFolder } from '../support/databases.ts'
import { type BrokenBuild, brokenBuilds, changesOf } from './broken-builds.ts'
import { brokenClusterBuilds } from './cluster/broken-builds.ts'
import { changedTexts, copySource } from './copy-source.ts'
import { replacements } from './injection/replacements.ts'
import { injecting, readFaultSettings } from './injection/settings.ts'
import { wrappers } from './injection/wrappers.ts'

const root = resolve(import.meta.dirname, '..', '..')
const importPattern = /^import \{([^}]+)\} from '(\.{1,2}\/[^']+)'/gm

test('each replacement stands for an existing import', async t => {
  for (const [importer, target, names] of replacements) {
    const text = readFileSync(join(root, importer), 'utf8')
    const imported = [...text.matchAll(importPattern)].flatMap(([, names = '', path = '']) =>
      relative(root, resolve(root, dirname(importer), path)) === target ? names.split(',') : [],
    )
    // Another import of the target would not reach the fault.
    for (const name of names) {
      t.ok(imported.map(text => text.trim()).includes(name), `${importer} imports ${name} of ${target}`)
      t.ok(name in wrappers)
    }
  }
})

test('ordered faults are parsed, and unknown ones rejected', async t => {
  t.throws(() => injecting({ FAIL_POINT: 'somewhere:1' }), /FAIL_POINT/)
  t.throws(() => injecting({ FAIL_POINT: 'after-ack:0' }), /FAIL_POINT/)
  const environment = injecting({
    FAIL_POINT: 'after-sync:17',
    FAULT_CLOCK: '2:3600,4.5:-300',
  })
  t.strictSame(readFaultSettings(environment), {
    FAIL_POINT: { name: 'after-sync', pass: 17 },
    FAIL_ROWS: 'readings',
    FAULT_CLOCK: [
      { afterMs: 2000, offsetMs: 3_600_000 },
      { afterMs: 4500, offsetMs: -300_000 },
    ],
  })
})

test('every broken build finds the place that it breaks', async t => {
  const builds = [...brokenBuilds, ...brokenClusterBuilds(3)]
  for (const build of builds) t.doesNotThrow(() => changedTexts(root, changesOf(build)), build.name)
  const gone = [{ file: 'ingest/journal/disk.ts', from: 'this is not there', to: '' }]
  t.throws(() => changedTexts(root, gone), /does not have this once/)

  const copy = join(temporaryFolder(t), 'broken')
  copySource(root, copy, changesOf(builds[0] as BrokenBuild))
  await t.resolves(import(join(copy, 'service', 'service.ts')), 'the copy is whole')
})
