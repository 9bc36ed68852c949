/** An impossible start ends with one sentence on the remedy and leaves no process. */

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import fs, { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { type Test, test } from 'tap'
import { assertClockIsSet, openServiceIngest } from '../../service/open-ingest.ts'
import { readConfig } from '../../service/settings/config.ts'
import { readCertificate } from '../../store/certificate.ts'
import { checkListenAddress } from '../../store/listen-address.ts'
import { silentLog, temporaryFolder } from '../support/databases.ts'
import { isRunning, recordedPid, serverPid, until } from '../support/processes.ts'
import { runToEnd } from '../support/run-program.ts'
import { startService, withoutQuestdb } from '../support/service.ts'

/** One whose last bytes belong to no group, and where something else stands in place of the file that they would go to. */
function makeTornJournal(journal: string): void {
  mkdirSync(join(journal, 'quarantine-0000000000000000.tail.new'), { recursive: true, mode: 0o711 })
  writeFileSync(join(journal, '0000000000000000.journal'), 'torn')
}

test('a journal that cannot be opened stops the start with one sentence', async t => {
  const dataDirectory = join(temporaryFolder(t), 'data')
  const journal = join(dataDirectory, 'journal')
  makeTornJournal(journal)
  const started = startService(t, { dataDirectory, environment: withoutQuestdb })
  const message = new RegExp(`\\nThe journal in ${journal} cannot be opened \\(EISDIR[^\\n]*\\n$`)
  await t.rejects(started, { message }, 'no stack')
  const pid = recordedPid({ path: dataDirectory }, 'postgres')
  t.notOk(pid !== undefined && isRunning(pid))
})

function openJournals(t: Test, journal: string, pointsJournal: string) {
  return openServiceIngest({
    config: readConfig({}),
    directory: { journal, pointsJournal },
    nowMs: Date.now,
    log: silentLog as never,
    onFatal: error => t.fail(error.message),
  })
}

test('a torn tail of the journal of points stops the start on a full disk only', async t => {
  const points = join(temporaryFolder(t), 'points')
  makeTornJournal(points)
  const message = /The journal in .*points cannot be opened \(EISDIR/
  await t.rejects(openJournals(t, temporaryFolder(t), points), { name: 'StartError', message })
  const journal = temporaryFolder(t)
  writeFileSync(join(journal, '0000000000000000.journal'), 'torn')
  const { writeSync } = fs
  t.teardown(() => {
    fs.writeSync = writeSync
    syncBuiltinESMExports()
  })
  fs.writeSync = () => {
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' })
  }
  syncBuiltinESMExports()
  const full = { name: 'StartError', message: /cannot be opened \(ENOSPC.*\): free disk space\.$/ }
  await t.rejects(openJournals(t, journal, temporaryFolder(t)), full)
})

test('an unusable port, address or certificate is reported with the remedy', async t => {
  const other = createServer().listen(0, '127.0.0.1')
  t.teardown(() => other.close())
  await once(other, 'listening')
  const address = other.address()
  const PORT = typeof address === 'object' && address !== null ? address.port : 0
  await t.rejects(checkListenAddress({ HOST: '127.0.0.1', PORT }), /Port \d+ .* is in use.*set PORT/)
  // An address that is kept for documentation.
  const foreign = checkListenAddress({ HOST: '192.0.2.1', PORT: 0 })
  await t.rejects(foreign, /HOST 192\.0\.2\.1 is not an address of this machine: set it/)
  const certificate = (path: string) => () => readCertificate({ TLS_CERT: path, TLS_KEY: path })
  t.throws(certificate('/nowhere.pem'), /TLS_CERT \/nowhere\.pem cannot be read \(ENOENT\): set it/)
  t.throws(certificate('package.json'), /TLS_KEY package\.json are not a matching certificate and key .*: set them/)
  // Thirty years back.
  const then = Date.now() - 946_684_800_000
  t.throws(() => assertClockIsSet(then), { message: /The system clock is wrong \(199\d-.*\): set it/ })
  const dataDirectory = temporaryFolder(t)
  await t.rejects(startService(t, { environment: { PORT: String(PORT) }, dataDirectory }), /is in use/)
  t.notOk(existsSync(join(dataDirectory, 'postgres', 'process')), 'nothing is started before')
})

test('a stop in the middle of the start cleans up too', async t => {
  const path = join(temporaryFolder(t), 'data')
  const started = startService(t, { dataDirectory: path })
  started.catch(() => undefined)
  await until('the databases are on their way', () => {
    try {
      return serverPid({ path }, 'postgres') > 0
    } catch {
      return false
    }
  })
  const pid = serverPid({ path }, 'postgres')
  const service = execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)]).toString()
  process.kill(Number(service), 'SIGTERM')
  await t.rejects(started)
  await until('no server is left', () => !isRunning(pid))
})

test("LOG_FORMAT decides on the log's form with and without a terminal", async t => {
  const program = `
    import { readConfig } from './service/settings/config.ts'
    import { createLog } from './service/run-service.ts'
    for (const [LOG_FORMAT, isTerminal] of [['pretty', false], ['json', true], ['', false]]) {
      const log = await createLog(readConfig({ LOG_FORMAT }), isTerminal)
      log.info({ answer: 42 }, 'hello')
    }
  `
  const words = ['--input-type=module-typescript', '--eval', program]
  const folder = resolve(import.meta.dirname, '..', '..')
  const { stdout } = await runToEnd(process.execPath, words, { folder, environment: {} })
  const json = /^\{.*"answer":42,"msg":"hello"\}$/
  t.match(stdout.trim().split('\n'), [/INFO.*hello.*"answer":42/, json, json])
  t.notMatch(stdout, '\u001b', 'without colours')
})
