/** A journal that cannot be opened stops the start with one sentence, and leaves nothing running. */

import fs, { mkdirSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { test } from 'tap'
import { openServiceIngest } from '../../service/open-ingest.ts'
import { readConfig } from '../../settings/config.ts'
import { silentLog, temporaryFolder } from '../support/databases.ts'
import { isRunning, recordedPid } from '../support/processes.ts'
import { startService } from '../support/service.ts'

/** A journal whose last bytes belong to no group. */
function makeTornJournal(journal: string): void {
  mkdirSync(journal, { recursive: true, mode: 0o711 })
  writeFileSync(join(journal, '0000000000000000.journal'), 'torn')
}

for (const [what, name] of [
  ['readings', 'journal'],
  ['points', 'points-journal'],
] as const)
  test(`a torn tail of the journal of ${what} that cannot be put aside`, async t => {
    const dataDirectory = join(temporaryFolder(t), 'data')
    const journal = join(dataDirectory, name)
    makeTornJournal(journal)
    // Where the bytes would be written stands something else.
    mkdirSync(join(journal, 'quarantine-0000000000000000.tail.new'))
    const started = startService(t, { dataDirectory })
    const message = await started.then(
      () => 'it started',
      (error: Error) => error.message,
    )
    t.match(message, `The journal in ${journal} cannot be opened (EISDIR`)
    t.notMatch(message, /^\s+at /m, 'no stack')
    for (const server of ['questdb', 'postgres'] as const) {
      const pid = recordedPid({ path: dataDirectory }, server)
      t.notOk(pid !== undefined && isRunning(pid), server)
    }
  })

test('a torn tail on a full disk', async t => {
  const journal = join(temporaryFolder(t), 'journal')
  makeTornJournal(journal)
  const { writeSync } = fs
  t.teardown(() => {
    fs.writeSync = writeSync
    syncBuiltinESMExports()
  })
  fs.writeSync = () => {
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' })
  }
  syncBuiltinESMExports()
  const open = () =>
    openServiceIngest({
      config: readConfig({}),
      directory: { journal, pointsJournal: temporaryFolder(t) },
      nowMs: Date.now,
      log: silentLog as never,
      onFatal: error => t.fail(error.message),
    })
  await t.rejects(open, { name: 'StartError', message: /cannot be opened \(ENOSPC.*\): free disk space\.$/ })
})
