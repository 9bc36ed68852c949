/** Refused backups: every file is checked against the manifest, and the manifest against itself, also with a recomputed digest. */

import { createHash } from 'node:crypto'
import fs, { cpSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { test } from 'tap'
import { checkBackup, compareVersions, prepareTarget } from '../../../service/backup/backup-folder.ts'
import { Copy, digestFile } from '../../../service/backup/copy.ts'
import { type ManifestHead, manifestName, readManifest, writeManifest } from '../../../service/backup/manifest.ts'
import { temporaryFolder } from '../../support/databases.ts'

const version = '0.1.0'
const nothing = () => undefined
const head: ManifestHead = {
  format: 1,
  version,
  createdAt: '2026-11-22T10:00:00.000Z',
  questdb: { version: '9.3.4', days: { readings: [['2026-11-22', '2', '7']] } },
  postgres: {
    version: '18',
    migrations: ['050-baseline.sql'],
    sequences: [{ name: 'devices_number_seq', value: '1', isCalled: true }],
    eraseAgain: [7],
    tables: [{ name: 'devices', columns: ['number'], rows: 1 }],
  },
  topics: [{ name: 'readings', offset: 3 }],
}
const contents: Record<string, string> = {
  'journal/0000000000000000.journal': 'groups',
  'journal/checkpoint': '0',
  'points-journal/stamps': '{}',
  'questdb/db/readings~1/_txn': '\0\0\0\u0001',
  'questdb/.checkpoint/db/_tables': 'x',
  'postgres/devices': '1\n',
  'secrets/admin-token': 'secret\n',
}
const whole = join(temporaryFolder(t), 'backup')
makeBackup(whole, head)
const manifest = readFileSync(join(whole, manifestName))
const alone = temporaryFolder(t)

function makeBackup(folder: string, of: ManifestHead): void {
  const files = Object.entries(contents).map(([path, text]) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
    return { path, ...digestFile(join(folder, path), nothing) }
  })
  writeManifest(folder, { head: of, files })
}

/** The refusal of a copy that was changed. */
function refusalOf(change: (folder: string) => void, name = version): string {
  const folder = join(temporaryFolder(t), 'backup')
  cpSync(whole, folder, { recursive: true })
  change(folder)
  return messageOf(() => checkBackup(folder, name, nothing))
}

/** The refusal of a manifest without its backup. */
function manifestRefusalOf(bytes: Uint8Array): string {
  writeFileSync(join(alone, manifestName), bytes)
  return messageOf(() => readManifest(alone))
}

function messageOf(check: () => unknown): string {
  try {
    check()
    return ''
  } catch (error) {
    return error instanceof Error && error.name === 'BackupError' ? error.message : `not a refusal: ${error}`
  }
}

function flipped(bytes: Buffer, at: number, bit: number): Buffer {
  const changed = Buffer.from(bytes)
  changed.writeUInt8(changed.readUInt8(at) ^ (1 << bit), at)
  return changed
}

t.test('a whole backup is taken', async t => {
  t.strictSame(checkBackup(whole, version, nothing).head, head)
  t.equal(refusalOf(nothing), '')
})

t.test('one flipped bit in any file is refused', async t => {
  for (const [path, text] of Object.entries(contents)) {
    const change = (folder: string) => {
      writeFileSync(join(folder, path), flipped(Buffer.from(text), text.length - 1, text.length % 8))
    }
    t.match(refusalOf(change), `${path} was changed or cut short`)
  }
})

t.test('one flipped bit anywhere in the manifest is refused', async t => {
  t.equal(manifestRefusalOf(manifest), '')
  for (let at = 0; at < manifest.length; at++) {
    t.match(manifestRefusalOf(flipped(manifest, at, at % 8)), /was cut short or changed/, `byte ${at}`)
  }
})

t.test('a manifest that was cut short anywhere is refused', async t => {
  for (let length = 0; length < manifest.length; length++) {
    t.match(manifestRefusalOf(manifest.subarray(0, length)), /was cut short or changed/, `${length} bytes`)
  }
})

t.test('a missing, an additional, a longer and a linked file are refused', async t => {
  const token = 'secrets/admin-token'
  const refusals: [change: (folder: string) => void, refusal: RegExp][] = [
    [folder => rmSync(join(folder, token)), /admin-token cannot be read \(ENOENT\)/],
    [folder => writeFileSync(join(folder, 'journal/dead'), ''), /dead does not belong to this backup/],
    [folder => writeFileSync(join(folder, `${manifestName}.new`), ''), /does not belong to this backup/],
    [folder => fs.symlinkSync('/', join(folder, 'questdb/root')), /root does not belong to this backup/],
    [folder => fs.appendFileSync(join(folder, token), ' '), /changed or cut short/],
    [folder => fs.renameSync(join(folder, token), join(folder, 'secrets/b')), /b does not belong to this backup/],
    [folder => rmSync(join(folder, manifestName)), /not a backup, or one that was cut short/],
  ]
  for (const [change, refusal] of refusals) t.match(refusalOf(change), refusal)
})

t.test('a backup of a newer version is refused, one of an older is not', async t => {
  t.match(refusalOf(nothing, '0.0.9'), /of the newer version 0\.1\.0/)
  t.equal(refusalOf(nothing, '0.2.0'), '')
  const migrations = [...head.postgres.migrations, '999-future.sql']
  for (const newer of [{ postgres: { ...head.postgres, migrations } }, { format: 2 }]) {
    const refusal = refusalOf(folder => makeBackup(folder, { ...head, ...newer } as never))
    t.match(refusal, /newer version/)
  }
  const ofMigrations = (names: string[]) =>
    refusalOf(folder => makeBackup(folder, { ...head, postgres: { ...head.postgres, migrations: names } } as never))
  const numbers = Array.from({ length: 49 }, (_, at) => `${String(at + 1).padStart(3, '0')}-some.sql`)
  t.equal(ofMigrations([...numbers, '050-pharmacy-profile.sql']), '', 'the last development version')
  t.match(ofMigrations(numbers), /earlier development version: restore it with the last one \(commit 18696e17\)/)
  t.ok(compareVersions('0.10.0', '0.9.9') > 0)
  t.ok(compareVersions('1.2.3', '1.2.3') === 0)
})

t.test('a manifest names no file outside of the parts', async t => {
  for (const path of ['/etc/passwd', 'journal/../../x', 'data/x', 'journal', 'journal//x', 'secrets/.', '']) {
    const folder = temporaryFolder(t)
    writeManifest(folder, { head, files: [{ path, bytes: 0, sha256: '0'.repeat(64) }] })
    t.throws(() => readManifest(folder), { name: 'BackupError', message: /must be a path in one of the parts/ }, path)
  }
})

// Manifests that were changed and given a matching digest.

/** The head and the files. The end is computed from them. */
const files = ['postgres/devices', 'journal/checkpoint'].map(path => [path, 2, '0'.repeat(64)])
const lines: unknown[] = [head, ...files]
/** The digest is right. A correct manifest is refused for its first missing file. */
function remadeRefusalOf(changed: readonly unknown[]): string {
  const text = changed.map(line => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('')
  const sha256 = createHash('sha256').update(text).digest('hex')
  writeFileSync(join(alone, manifestName), `${text}${JSON.stringify({ files: changed.length - 1, sha256 })}\n`)
  return messageOf(() => checkBackup(alone, version, nothing))
}

t.test('a manifest of wrong fields or lines is refused in a sentence, and a folder in its place', async t => {
  t.match(remadeRefusalOf(lines), /cannot be read \(ENOENT\)/)
  const { version: _, ...unversioned } = head
  const wrong = [null, 'x', '{', {}, [], unversioned, { ...head, topics: [{ name: '\u001b[31m\n', offset: -1 }] }]
  for (const line of wrong) t.match(remadeRefusalOf(lines.with(0, line)), /^(?!not a refusal)\P{Cc}+$/u)
  for (const line of [...wrong, ['postgres/devices', 2 ** 53, '0'.repeat(64)], ['journal/checkpoint', 2, '\ud800']])
    t.match(remadeRefusalOf(lines.with(1, line)), /^(?!not a refusal)\P{Cc}+$/u)
  const other = temporaryFolder(t)
  mkdirSync(join(other, manifestName))
  t.throws(() => checkBackup(other, version, nothing), { message: /cannot be read \(EISDIR\)/ })
})

t.test('refused: a duplicate file, a table without its file, and a file without a table', async t => {
  t.match(remadeRefusalOf([...lines, lines[1]]), /is named twice/)
  t.match(remadeRefusalOf(lines.toSpliced(1, 1)), /devices is missing/)
  t.match(remadeRefusalOf([...lines, ['postgres/devices2', 0, '0'.repeat(64)]]), /devices2 belongs to no table/)
})

t.test('a copy is the first bytes of a file, with its zeros', async t => {
  const folder = temporaryFolder(t)
  const source = join(folder, 'source')
  const bytes = Buffer.alloc(1_000_000)
  bytes.write('a', 0)
  bytes.write('b', 600_000)
  writeFileSync(source, bytes)
  const copy = new Copy(join(folder, 'copy'), nothing)
  for (const [path, bytesMax] of Object.entries({ all: 2_000_000, most: 900_000, some: 10 })) {
    copy.run({ kind: 'file', from: source, path, bytesMax, isOptional: false })
    t.ok(readFileSync(join(folder, 'copy', path)).equals(bytes.subarray(0, bytesMax)), path)
    t.strictSame(copy.entries.at(-1), { path, ...digestFile(join(folder, 'copy', path), nothing) })
  }
  const gone = { kind: 'file', from: join(folder, 'none'), path: 'none', bytesMax: 1 } as const
  copy.run({ ...gone, isOptional: true })
  t.equal(copy.entries.length, 3, 'one that is gone is left out')
  t.throws(() => copy.run({ ...gone, isOptional: false }))
})

t.test('a copy leaves room on the disk', async t => {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'source'), 'x')
  const step = { kind: 'file', from: join(folder, 'source'), path: 'x', bytesMax: 10, isOptional: false } as const
  t.throws(() => new Copy(join(folder, 'copy'), nothing, Number.MAX_SAFE_INTEGER).run(step), { name: 'BackupError' })
  t.doesNotThrow(() => new Copy(join(folder, 'copy'), nothing, 1).run(step))
})

test('a folder for a backup is made, or taken empty, for its owner alone', t => {
  const folder = temporaryFolder(t)
  const [target, data] = [join(folder, 'monday'), join(folder, 'data')]
  mkdirSync(data)
  for (const when of ['new', 'empty']) {
    t.equal(prepareTarget(target, data), join(realpathSync(folder), 'monday'), when)
    t.equal(statSync(target).mode & 0o777, 0o700, when)
  }
  t.end()
})

test('a folder that cannot be taken is refused with the reason', t => {
  const folder = temporaryFolder(t)
  const [data, full, file] = [join(folder, 'data'), join(folder, 'full'), join(folder, 'file')]
  for (const made of [data, full]) mkdirSync(made)
  writeFileSync(join(full, 'x'), '')
  writeFileSync(file, '')
  const refuses = (path: string, reason: string) => t.throws(() => prepareTarget(path, data), { message: reason })
  refuses('monday', 'monday is not an absolute path.')
  refuses(join(data, 'monday'), `${join(data, 'monday')} is in the data directory: give another folder.`)
  refuses(full, `${realpathSync(full)} is not empty: give a new or an empty folder.`)
  const lost = join(folder, 'missing', 'monday')
  refuses(lost, `${lost} cannot be made: its parent folder does not exist.`)
  refuses(join(file, 'monday'), `${join(file, 'monday')} cannot be made: ENOTDIR.`)
  t.end()
})
