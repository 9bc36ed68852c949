/** A manifest that was changed by somebody who knows how to make its digest anew. */

import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { checkBackup } from '../../../service/backup/check-backup.ts'
import { manifestName } from '../../../service/backup/manifest.ts'
import { migrationNames, migrationsFolder } from '../../../store/postgres/migrations.ts'
import { temporaryFolder } from '../../support/databases.ts'

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
type Path = (string | number)[]

const head = {
  format: 1,
  version: '0.1.0',
  createdAt: '2026-11-22T10:00:00.000Z',
  questdb: { version: '9.3.4', days: { readings: [['2026-11-22', '2', '7']] } },
  postgres: {
    version: '18',
    migrations: migrationNames(migrationsFolder).slice(0, 2),
    sequences: [{ name: 'devices_number_seq', value: '1', isCalled: true }],
    eraseAgain: [7],
    tables: [{ name: 'devices', columns: ['number'], rows: 1 }],
  },
  topics: [{ name: 'readings', offset: 3 }],
}
/** The head and the files; without the end, which is made of them. */
const lines: Json[] = [head, ...['postgres/devices', 'journal/0.journal'].map(path => [path, 2, '0'.repeat(64)])]

function textOf(changed: readonly unknown[]): string {
  const text = changed.map(line => `${typeof line === 'string' ? line : (JSON.stringify(line) ?? '')}\n`).join('')
  const sha256 = createHash('sha256').update(text).digest('hex')
  return `${text}${JSON.stringify({ files: changed.length - 1, sha256 })}\n`
}

/** Of every field, and of what it is in. */
function* pathsOf(value: Json, path: Path): Generator<Path> {
  yield path
  if (typeof value !== 'object' || value === null) return
  for (const [name, below] of Object.entries(value))
    yield* pathsOf(below, [...path, Array.isArray(value) ? Number(name) : name])
}
const paths = lines.flatMap((line, at) => [...pathsOf(line, [at])])

const isLeftOut = Symbol('left out')

function changed(value: Json, [name, ...below]: Path, change: unknown): unknown {
  if (name === undefined) return change
  if (typeof value !== 'object' || value === null) throw new Error('a path ends here')
  const of = (member: Json) => changed(member, below, change)
  if (Array.isArray(value))
    return value.flatMap((item, at) => (at === name ? [of(item)].filter(made => made !== isLeftOut) : [item]))
  const { [String(name)]: member = null, ...others } = value
  const made = of(member)
  return made === isLeftOut ? others : { ...others, [String(name)]: made }
}

const hostile = ['a\u001b[31m\n', '9'.repeat(400), '__proto__', '\ud800']
const texts = ['', 'x', '../x', 'journal/../../x', '/etc/passwd', ...hostile]
const values: unknown[] = [isLeftOut, null, true, -1, 0, 1.5, 2 ** 53, 1e308, [], {}, [[]], ...texts]

/** Only the manifest: what is right in it is refused for its first file. */
const folder = temporaryFolder(t)

function refusalOf(manifest: string): string {
  writeFileSync(join(folder, manifestName), manifest)
  try {
    checkBackup(folder, '0.1.0', () => undefined)
  } catch (error) {
    if (error instanceof Error && error.name === 'BackupError' && !error.message.includes('\n')) return error.message
    throw error
  }
  throw new Error(`taken: ${manifest}`)
}

t.test('a manifest that was changed in any field is refused in a sentence', async t => {
  t.match(refusalOf(textOf(lines)), /cannot be read \(ENOENT\)/)
  for (const path of paths) for (const value of values) refusalOf(textOf(changed(lines, path, value) as unknown[]))
  const value = fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' }))
  const property = fc.property(fc.constantFrom(...paths), value, (path, value) => {
    refusalOf(textOf(changed(lines, path, value) as unknown[]))
  })
  fc.assert(property, { numRuns: 200, seed: 20_261_129 })
  t.pass(`${paths.length} fields`)
})

t.test('lines that are no JSON, and a manifest that is a folder', async t => {
  const line = fc.string({ unit: 'binary' }).map(text => text.replaceAll('\n', ''))
  const property = fc.property(fc.nat(lines.length - 1), line, (at, line) => {
    refusalOf(textOf(lines.with(at, line)))
  })
  fc.assert(property, { numRuns: 100, seed: 20_261_129 })
  const other = temporaryFolder(t)
  mkdirSync(join(other, manifestName))
  t.throws(() => checkBackup(other, '0.1.0', () => undefined), { message: /cannot be read \(EISDIR\)/ })
})

t.test('a file twice, a table without its file, and a file of no table', async t => {
  const [first, devices, journal] = lines as [Json, Json, Json]
  t.match(refusalOf(textOf([first, devices, journal, journal])), /is named twice/)
  t.match(refusalOf(textOf([first, journal])), /devices is missing/)
  t.match(refusalOf(textOf([...lines, ['postgres/devices2', 0, '0'.repeat(64)]])), /devices2 belongs to no table/)
})
