/** A manifest that was changed by somebody who knows how to make its digest anew. */

import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { NewDevice } from '../../auth/devices/device.ts'
import { backUp } from '../../backup/backup.ts'
import { manifestName } from '../../backup/manifest.ts'
import type { ManifestHead } from '../../backup/manifest-lines.ts'
import { packageVersion } from '../../store/version.ts'
import { startBackedUp } from '../support/backed-up.ts'
import { barograph } from '../support/command-line.ts'
import { temporaryFolder } from '../support/databases.ts'

const { devices, parts, run } = await startBackedUp(t)
await devices.add([NewDevice.parse({ name: 'porch' })], 'test')
const whole = join(temporaryFolder(t), 'backup')
await backUp(whole, { ...parts, version: packageVersion() }, run)

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
/** The head and the files; without the end, which is made of them. */
type Lines = Json[]
type Path = (string | number)[]

const lines: Lines = readFileSync(join(whole, manifestName), 'utf8')
  .trimEnd()
  .split('\n')
  .slice(0, -1)
  .map(line => JSON.parse(line))

function textOf(changed: readonly unknown[]): string {
  const text = changed.map(line => `${JSON.stringify(line) ?? ''}\n`).join('')
  const sha256 = createHash('sha256').update(text).digest('hex')
  return `${text}${JSON.stringify({ files: changed.length - 1, sha256 })}\n`
}

/** Of every field, and of what it is in. */
function* pathsOf(value: Json, path: Path): Generator<Path> {
  yield path
  if (typeof value !== 'object' || value === null) return
  for (const [name, below] of Object.entries(value)) {
    yield* pathsOf(below, [...path, Array.isArray(value) ? Number(name) : name])
  }
}
const paths = lines.flatMap((line, at) => [...pathsOf(line, [at])])

const isLeftOut = Symbol('left out')
const isDoubled = Symbol('doubled')
type Change = unknown

function changed(value: Json, [name, ...below]: Path, change: Change): unknown {
  if (name === undefined) return change
  if (Array.isArray(value)) {
    const at = Number(name)
    const item = value[at] as Json
    const items =
      below.length > 0 || (change !== isLeftOut && change !== isDoubled)
        ? [changed(item, below, change)]
        : change === isDoubled
          ? [item, item]
          : []
    return [...value.slice(0, at), ...items, ...value.slice(at + 1)]
  }
  const { [String(name)]: member = null, ...others } = value as { [name: string]: Json }
  if (below.length === 0 && change === isLeftOut) return others
  return { ...others, [String(name)]: changed(member, below, change === isDoubled ? [member, member] : change) }
}

const texts = [
  '',
  'x',
  '../x',
  'journal/../../x',
  '/etc/passwd',
  'a\u001b[31m\n',
  '9'.repeat(400),
  '__proto__',
  '\ud800',
]
const values: Change[] = [isLeftOut, isDoubled, null, true, -1, 0, 1.5, 2 ** 53, 1e308, [], {}, [[]], ...texts]

/** Only the manifest: what is right in it is refused for its first file. */
const alone = temporaryFolder(t)
const dataDirectory = join(temporaryFolder(t), 'above', 'data')

async function refusalOf(manifest: string): Promise<string> {
  writeFileSync(join(alone, manifestName), manifest)
  const { status, stdout, stderr } = await barograph(['restore', alone], { environment: { DATA_DIR: dataDirectory } })
  const isSentence = /^checking the backup\nbarograph: [^\n]+\.\n$/.test(stderr)
  if (status !== 1 || stdout !== '' || !isSentence) throw new Error(`${status} ${stdout} ${stderr}`)
  if (existsSync(dirname(dataDirectory))) throw new Error('something was written')
  return stderr
}

t.test('a manifest that was changed in any field is refused in a sentence, before anything is written', async t => {
  t.match(await refusalOf(textOf(lines)), /cannot be read \(ENOENT\)/)
  // One of each kind: all files are alike, and all tables.
  const kinds = new Map(
    paths.map(path => [path.map(part => (typeof part === 'number' ? Math.min(part, 1) : part)).join(), path]),
  )
  let count = 0
  for (const path of kinds.values()) {
    for (const value of values) {
      await refusalOf(textOf(changed(lines, path, value) as unknown[]))
      count++
    }
  }
  t.comment(`${count} manifests`)
  t.ok(count > 500)
})

t.test('whatever a field is', async t => {
  const change = fc.oneof(fc.constantFrom(...values), fc.jsonValue(), fc.string({ unit: 'binary' }))
  const property = fc.asyncProperty(fc.constantFrom(...paths), change, async (path, value) => {
    await refusalOf(textOf(changed(lines, path, value) as unknown[]))
  })
  await fc.assert(property, { numRuns: 500 })
  t.pass()
})

t.test('lines that are no JSON, and a manifest that is a folder', async t => {
  const property = fc.asyncProperty(fc.nat(lines.length - 1), fc.string({ unit: 'binary' }), async (at, line) => {
    const text = lines.map((value, place) => `${place === at ? line : JSON.stringify(value)}\n`).join('')
    const sha256 = createHash('sha256').update(text).digest('hex')
    await refusalOf(`${text}${JSON.stringify({ files: text.split('\n').length - 2, sha256 })}\n`)
  })
  await fc.assert(property, { numRuns: 100 })
  const folder = temporaryFolder(t)
  mkdirSync(join(folder, manifestName))
  t.match(await barograph(['restore', folder]), { status: 1, stderr: /cannot be read \(EISDIR\)/ })
})

t.test('a file twice, and a table whose file is another', async t => {
  const [head, ...files] = lines
  t.match(await refusalOf(textOf([head, ...files, files[0]])), /is named twice/)
  const isOfDevices = (line: Json) => Array.isArray(line) && line[0] === 'postgres/devices'
  t.match(await refusalOf(textOf([head, ...files.filter(line => !isOfDevices(line))])), /devices is missing/)
  const stray = ['postgres/devices2', 0, '0'.repeat(64)]
  t.match(await refusalOf(textOf([head, ...files, stray])), /devices2 is of no table/)
})

const head = lines[0] as unknown as ManifestHead

t.test('what only the databases can tell is refused too, and nothing is left', async t => {
  const devicesTable = [0, 'postgres', 'tables', head.postgres.tables.findIndex(({ name }) => name === 'devices')]
  const cases: [Path, unknown, RegExp][] = [
    [[...devicesTable, 'rows'], 2, /has 1 rows, and had 2 in the backup/],
    [[...devicesTable, 'columns', 0], 'numbers', /are not those of its migrations/],
    [[0, 'postgres', 'sequences', 0, 'name'], 'no_sequence', /cannot be restored .*no_sequence/],
    [[0, 'questdb', 'days'], { readings: [['2026-11-22', '1', '1']] }, /readings differs from the backup/],
  ]
  let isMade = false
  for (const [path, value, refusal] of cases) {
    const folder = join(temporaryFolder(t), 'backup')
    cpSync(whole, folder, { recursive: true })
    writeFileSync(join(folder, manifestName), textOf(changed(lines, path, value) as unknown[]))
    const root = temporaryFolder(t)
    const DATA_DIR = isMade ? root : join(root, 'above', 'data')
    const refused = await barograph(['restore', folder], { environment: { DATA_DIR } })
    t.match(refused, { status: 1, stdout: '', stderr: refusal })
    t.match(refused.stderr, /\nbarograph: [^\n]+\.\n$/)
    t.strictSame(readdirSync(root), [])
    isMade = !isMade
  }
})

t.test('a directory that is not empty keeps what is in it and gets nothing', async t => {
  const DATA_DIR = temporaryFolder(t)
  writeFileSync(join(DATA_DIR, 'letters.txt'), 'mine')
  t.match(await barograph(['restore', whole], { environment: { DATA_DIR } }), { status: 1, stderr: /is not empty/ })
  t.strictSame(readdirSync(DATA_DIR), ['letters.txt'])
})
