/** The data directory: its folders and modes, its lock, its secrets. */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { beginRestore, openDataDirectory } from '../../store/data-directory.ts'
import { StartError } from '../../store/start-error.ts'
import { packageVersion } from '../../store/version.ts'
import { openTestDirectory, temporaryFolder } from '../support/databases.ts'
import { messageOf } from '../support/processes.ts'
import { recordSyncs } from './synced-paths.ts'

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

test('new parent folders can be passed through, while private ones are ours only', async t => {
  const base = temporaryFolder(t)
  const umask = process.umask(0o077)
  t.teardown(() => process.umask(umask))
  const directory = openTestDirectory(t, join(base, 'a', 'b'))
  for (const path of [join(base, 'a'), directory.path, directory.postgres]) t.equal(modeOf(path), '711', path)
  for (const path of [directory.journal, directory.questdb, directory.secrets, directory.mail]) {
    t.equal(modeOf(path), '700', path)
  }
  const mine = join(base, 'mine')
  mkdirSync(mine)
  chmodSync(mine, 0o750)
  openDataDirectory(mine).close()
  t.equal(modeOf(mine), '750', 'a folder that was there keeps its mode')
})

test("a restore takes the home of the service's user and removes its caches if it is aborted", t => {
  const path = temporaryFolder(t)
  for (const name of ['.cache', '.m2']) mkdirSync(join(path, name, 'jars'), { recursive: true })
  const restore = beginRestore(path)
  t.ok(readdirSync(path).includes('journal'))
  restore.directory.close()
  t.throws(() => openDataDirectory(path), { name: 'StartError', message: /holds a restore that was interrupted/ })
  beginRestore(path).abandon()
  t.strictSame(readdirSync(path).sort(), ['.cache', '.m2'])
  t.strictSame(readdirSync(join(path, '.cache')), ['jars'])
  writeFileSync(join(path, '.profile'), '')
  t.throws(() => beginRestore(path), { message: /is not empty/ })
  t.end()
})

test('a secret is created once, is private, and outlives its process', async t => {
  const path = join(temporaryFolder(t), 'data')
  const first = openDataDirectory(path)
  const secret = first.secret('token')
  t.match(secret, /^[0-9a-f]{64}$/)
  t.equal(first.secret('token'), secret)
  t.not(first.secret('other'), secret)
  const byHand = first.secret('own', () => 'made by hand')
  t.equal(byHand, 'made by hand')
  t.equal(modeOf(join(first.secrets, 'token')), '600')
  first.close()
  const second = openTestDirectory(t, path)
  t.equal(second.secret('token'), secret)
  t.equal(second.secret('own'), 'made by hand')
})

test('an empty secret is reported and not used', async t => {
  const directory = openTestDirectory(t)
  writeFileSync(join(directory.secrets, 'token'), '\n')
  t.throws(() => directory.secret('token'), { message: /token is empty: restore it, or remove the file/ })
})

test('a directory that cannot be written is reported with the remedy', async t => {
  const base = temporaryFolder(t)
  const file = join(base, 'file')
  writeFileSync(file, '')
  const remedy = /(is not writable|cannot be locked) \(.+\): grant this user write permission, or set DATA_DIR/
  t.throws(() => openDataDirectory(file), { message: remedy }, 'a file in its place')
  t.throws(() => openDataDirectory(join(file, 'data')), { message: remedy }, 'a file above it')
  t.throws(() => openDataDirectory('/proc/barograph'), { message: remedy }, 'a system folder')
  const closed = join(base, 'closed')
  mkdirSync(closed)
  const open = (): unknown => openDataDirectory(closed)
  // Root may write anywhere, so as root the test uses another user.
  const nobody = 65_534
  const root = process.getuid?.() === 0
  if (!root) chmodSync(closed, 0o500)
  if (root) process.seteuid?.(nobody)
  try {
    open()
    t.fail('a closed folder was opened')
  } catch (error) {
    t.ok(error instanceof StartError)
    t.match(error, { message: remedy }, 'no right to write')
  } finally {
    if (root) process.seteuid?.(0)
  }
})

test('the process that has it is named until it closes it or is killed', async t => {
  const path = join(temporaryFolder(t), 'data')
  const first = openDataDirectory(path)
  const busy = `is locked by the process ${process.pid}, usually a running server: stop it first, or set DATA_DIR`
  t.throws(() => openDataDirectory(path), { message: new RegExp(busy) })
  t.throws(() => openDataDirectory(path), { message: new RegExp(busy) }, 'a refusal does not free it')
  first.close()
  first.close()
  const holder = fork(new URL('./hold-directory.ts', import.meta.url), [path])
  t.teardown(() => holder.kill('SIGKILL'))
  await messageOf(holder)
  t.throws(() => openDataDirectory(path), { message: new RegExp(`locked by the process ${holder.pid},`) })
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  const directory = openDataDirectory(path)
  directory.close()
})

test('the names of its folders and of new parent folders are synced', async t => {
  const base = temporaryFolder(t)
  const synced = recordSyncs(t)
  const directory = openTestDirectory(t, join(base, 'a', 'b'))
  for (const folder of [base, join(base, 'a'), directory.path]) t.ok(synced.includes(folder), folder)
})

test('other users cannot open the lock, even one of an earlier version', async t => {
  const path = join(temporaryFolder(t), 'data')
  const lock = join(path, 'lock.db')
  const umask = process.umask(0)
  t.teardown(() => process.umask(umask))
  openDataDirectory(path).close()
  t.equal(modeOf(lock), '600')
  chmodSync(lock, 0o644)
  const directory = openDataDirectory(path)
  t.equal(modeOf(lock), '600')
  t.throws(() => openDataDirectory(path), /is locked by/, 'a second look at the mode does not give the lock up')
  t.throws(() => openDataDirectory(path), /is locked by/)
  directory.close()
})

test('the present holder of the lock is named, not an earlier one', async t => {
  const path = join(temporaryFolder(t), 'data')
  openDataDirectory(path).close()
  const holder = fork(new URL('./hold-lock.ts', import.meta.url), [join(path, 'lock.db')])
  t.teardown(() => holder.kill('SIGKILL'))
  await messageOf(holder)
  t.throws(() => openDataDirectory(path), { message: new RegExp(`locked by the process ${holder.pid},`) })
})

test('the format is written at the first start, with the version of each start', t => {
  const path = join(temporaryFolder(t), 'data')
  const file = join(path, 'format')
  const open = () => openDataDirectory(path).close()
  const marked = () => JSON.parse(readFileSync(file, 'utf8'))
  const ours = { format: 2, version: packageVersion() }
  open()
  t.strictSame(marked(), ours)
  writeFileSync(file, JSON.stringify({ format: 1, version: '0.0.9' }))
  open()
  t.strictSame(marked(), ours)
  rmSync(file)
  open()
  t.strictSame(marked(), ours, 'a directory from before there was a format')
  t.end()
})

test('a newer format is reported with both versions and left unchanged', t => {
  const path = join(temporaryFolder(t), 'data')
  mkdirSync(path)
  const newer = JSON.stringify({ format: 3, version: '7.8.9' })
  writeFileSync(join(path, 'format'), newer)
  const found = 'The data directory \\S+ has format 3 of Barograph 7\\.8\\.9, and this is Barograph '
  const sentence = new RegExp(`^${found}${packageVersion()}, [^\\n]*docs/upgrading\\.md\\)\\.$`)
  t.throws(() => openDataDirectory(path), { name: 'StartError', message: sentence })
  t.throws(() => openDataDirectory(path), { message: sentence }, 'the lock is given back')
  t.equal(readFileSync(join(path, 'format'), 'utf8'), newer)
  t.strictSame(readdirSync(path).sort(), ['format', 'lock.db'])
  const numbers = ['{"format":1}', '{"format":1.5,"version":"1.0.0"}']
  for (const damaged of ['', '{}', '[]', 'null', ...numbers, ' '.repeat(2000)]) {
    writeFileSync(join(path, 'format'), damaged)
    t.throws(() => openDataDirectory(path), { name: 'StartError', message: /is damaged/ }, damaged.slice(0, 20))
  }
  t.end()
})
