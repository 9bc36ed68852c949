/** `barograph content-files` and its batches, on a real PostgreSQL. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { Command } from 'commander'
import fc from 'fast-check'
import { fastify } from 'fastify'
import t from 'tap'
import { contentFileGroup } from '../../../api/admin/content-files.ts'
import { createAdminClient } from '../../../cli/admin-client.ts'
import type { CommandContext } from '../../../cli/command-context.ts'
import { CommandError } from '../../../cli/command-error.ts'
import { defineContentFiles } from '../../../cli/content-files.ts'
import { contentFileLines, type GeneratedFile, generateContentFiles } from '../../../cli/demo/content-file-generator.ts'
import { moduleDigest } from '../../../query/content/filters.ts'
import { serveEverybody } from '../../support/admin-scope.ts'
import { nowhere, startDatabases, temporaryFolder } from '../../support/databases.ts'
import { runs } from '../../support/runs.ts'

const { store } = await startDatabases(t, nowhere)
const app = fastify()
app.register(
  (scope, _options, done) => {
    serveEverybody(scope, contentFileGroup(store.postgres))
    done()
  },
  { prefix: '/api/admin' },
)
const url = await app.listen({ host: '127.0.0.1', port: 0 })
t.teardown(() => app.close())
const folder = temporaryFolder(t)

/** Runs the command as the program would, and returns its output, exit status and message. */
async function run(args: string[], input: string | Uint8Array = '') {
  const stdout = new PassThrough()
  const pieces: Buffer[] = []
  stdout.on('data', (piece: Buffer) => pieces.push(piece))
  const program = new Command().exitOverride()
  const client = createAdminClient(() => ({ url, token: 'any' }))
  const stderr = new PassThrough() as unknown as NodeJS.WriteStream
  const stdin = Readable.from([Buffer.from(input)])
  const streams = { stdin, stdout: stdout as unknown as NodeJS.WriteStream, stderr }
  defineContentFiles(program.command('content-files'), { client, streams } as CommandContext)
  let fault: CommandError | undefined
  try {
    await program.parseAsync(['node', 'barograph', 'content-files', ...args])
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    fault = error
  }
  const text = Buffer.concat(pieces).toString()
  return { stdout: text, exitStatus: fault?.exitStatus ?? 0, message: fault?.message ?? '' }
}

async function importLines(lines: string | Uint8Array) {
  const { stdout, exitStatus } = await run(['import', '-', '--json'], lines)
  return { exitStatus, ...JSON.parse(stdout) }
}

/** Sends one request to the routes below the command. */
async function post(path: string, payload: string, headers: Record<string, string> = {}) {
  const all = { 'content-type': 'application/x-ndjson', ...headers }
  const response = await app.inject({ method: 'POST', url: `/api/admin/content-files${path}`, payload, headers: all })
  return { status: response.statusCode, headers: response.headers, body: response.json() }
}

type Shape = Record<string, unknown>

function linesOf(...files: readonly Shape[]): string {
  return files.map(file => `${JSON.stringify(file)}\n`).join('')
}

/** Returns a line with the required fields alone. */
function minimal(key: string, more: Shape = {}): Shape {
  const ocw = { code: 'ocw', name: 'OCW' }
  return { key, run_id: 1, run_title: 'A run', resource_id: 1, offered_by: ocw, platform: ocw, ...more }
}

const importFiles = (...files: readonly Shape[]) => importLines(linesOf(...files))

async function exported(): Promise<Shape[]> {
  const { stdout } = await run(['export'])
  const lines = stdout.split('\n').slice(0, -1)
  return lines.map(line => JSON.parse(line))
}

async function version(): Promise<string> {
  const { rows } = await store.postgres.query('SELECT version FROM content_version')
  return rows[0].version
}

async function audited(): Promise<number> {
  const { rows } = await store.postgres.query("SELECT count(*)::int FROM audit WHERE action LIKE 'content-files.%'")
  return rows[0].count
}

/** Returns a digest of all rows of all tables, so that no change goes unseen. */
async function contents(): Promise<string> {
  const { rows: tables } = await store.postgres.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_name LIKE 'content\\_%' AND table_schema = 'public'",
  )
  const digest = createHash('sha256')
  for (const { name } of tables.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const { rows } = await store.postgres.query(`SELECT t::text FROM ${name} t ORDER BY 1`)
    digest.update(JSON.stringify([name, rows]))
  }
  return digest.digest('hex')
}

async function empty(): Promise<void> {
  await store.postgres.query('TRUNCATE content_files CASCADE')
}

t.beforeEach(empty)

const generated = [...generateContentFiles({ seed: 6, count: 1_200 })]

t.test('an import twice changes nothing, not even the version of the data', async t => {
  const lines = contentFileLines(generated)
  const all = { complete: true, accepted: 1200, changed: 0, rejected: 0, exitStatus: 0 }
  t.match(await importLines(lines), { ...all, added: 1200 })
  const stored = async () => ({ contents: await contents(), version: await version(), audited: await audited() })
  const before = await stored()
  t.ok(before.audited > 0)
  t.match(await importLines(lines), { ...all, added: 0 })
  t.strictSame(await stored(), before)
})

t.test('export, empty, import, export gives the same bytes', async t => {
  await importLines(contentFileLines(generated))
  const file = join(folder, 'export.ndjson')
  t.match(await run(['export', '--output', file]), { exitStatus: 0, stdout: '' })
  const first = readFileSync(file)
  const lines = first.toString().trimEnd().split('\n')
  t.equal(lines.length, generated.length)
  // Lines are compared one by one: a failure would otherwise print two texts of megabytes.
  for (const [index, line] of lines.entries()) assert.deepEqual(JSON.parse(line), generated[index], 'what came in')
  await empty()
  t.equal((await run(['export'])).stdout, '', 'nothing is left')
  await store.postgres.query('TRUNCATE content_runs, content_resources, content_topics, content_departments CASCADE')
  await importLines(first)
  t.ok((await run(['export'])).stdout === first.toString(), 'the same bytes')
  t.strictSame(readdirSync(folder), ['export.ndjson'], 'no unfinished file is left')
})

t.test('a field that a line lacks has its default', async t => {
  t.match(await importFiles(minimal('k')), { added: 1 })
  const [file] = await exported()
  const { id, created_on, ...rest } = file ?? {}
  t.type(id, 'number')
  t.ok(Math.abs(Date.now() - Date.parse(String(created_on))) < 60_000, 'the time is now')
  const nulls =
    'run_slug semester year uid title description url content_author content_language checksum image_src file_type ' +
    'file_extension edx_module_id content'
  const lists = ['departments', 'topics', 'content_feature_type', 'course_number', 'flashcards']
  const empty = ['content_title', 'resource_readable_id', 'run_readable_id', 'summary']
  t.strictSame(rest, {
    ...minimal('k', { resource_id: '1', offered_by: { code: 'ocw', name: 'OCW', channel_url: null } }),
    ...{ require_summaries: false, content_type: 'file', published: true },
    ...Object.fromEntries(nulls.split(' ').map(name => [name, null])),
    ...Object.fromEntries(lists.map(name => [name, []])),
    ...Object.fromEntries(empty.map(name => [name, ''])),
  })
  const before = await contents()
  t.match(await importFiles(minimal('k')), { added: 0, changed: 0 }, 'its time stays')
  t.equal(await contents(), before)
})

t.test('a changed line changes its file and no other', async t => {
  await importLines(contentFileLines(generated.slice(0, 3)))
  const [first, ...others] = generated.slice(0, 3)
  const changes: Shape[] = [
    { title: 'Another' },
    { content: 'Another text' },
    { content: null },
    { flashcards: [{ question: 'a', answer: 'b' }] },
    { content_feature_type: ['New tag', 'Older tag'] },
    { edx_module_id: 'block-v1:ABC' },
    { created_on: '2001-02-03T04:05:06.789012Z' },
  ]
  for (const change of changes) {
    t.match(await importFiles({ ...first, ...change }), { added: 0, changed: 1 }, JSON.stringify(change))
    t.strictSame(await exported(), [{ ...first, ...change }, ...others])
  }
  await importFiles({ ...first, edx_module_id: 'block-v1:ABC' })
  const { rows } = await store.postgres.query('SELECT edx_module_digest FROM content_files WHERE id = $1', [first?.id])
  t.strictSame(rows, [{ edx_module_digest: moduleDigest('BLOCK-V1:abc') }], 'it is found without regard to case')
})

t.test('an id is kept when it is given and free', async t => {
  const ids = async () => new Map((await exported()).map(({ key, id }) => [key, id]))
  await importFiles(minimal('a', { id: 70 }), minimal('b', { id: 70 }), minimal('c'), minimal('d', { id: 75 }))
  const first = await ids()
  t.equal(first.get('a'), 70)
  t.equal(first.get('d'), 75)
  t.equal(new Set(first.values()).size, 4, 'the second one that asks for it gets another')
  await importFiles(minimal('e', { id: first.get('b') }), minimal('a', { id: 99 }), minimal('f', { id: 99 }))
  const second = await ids()
  for (const [key, id] of first) t.equal(second.get(key), id, `${key} keeps its id`)
  t.equal(second.get('f'), 99, 'a file that has an id already does not take another one')
  t.not(second.get('e'), second.get('b'))
  const highest = Number.MAX_SAFE_INTEGER
  await importFiles(minimal('g', { id: highest }), minimal('h'), minimal('i'))
  const third = await ids()
  t.equal(third.get('g'), highest)
  t.equal(new Set(third.values()).size, 9, 'the highest one does not stop the sequence')
  const { rows } = await store.postgres.query('SELECT last_value::int AS last FROM content_files_id_seq')
  const ahead = linesOf(minimal('j', { id: rows[0].last + 2 }), minimal('k'), minimal('l'))
  t.match(await importLines(ahead), { added: 3 }, 'the sequence passes by ids that are taken')
})

t.test('the last of several lines for one file wins', async t => {
  const gone = { created_on: '2020-01-01T00:00:00Z', offered_by: { code: 'gone', name: 'G' } }
  const first = minimal('k', { id: 500, title: 'first', ...gone })
  const answer = await importFiles(first, minimal('k', { id: 501, title: 'second' }))
  t.match(answer, { accepted: 2, added: 1, changed: 0 })
  t.match(await exported(), [{ id: 500, title: 'second', created_on: '2020-01-01T00:00:00.000000Z' }])
  const { rows } = await store.postgres.query("SELECT name FROM content_units WHERE code = 'gone'")
  t.strictSame(rows, [{ name: 'G' }], 'the code of the first one is known all the same')
})

t.test('names and addresses of the newest line apply to all files', async t => {
  const school = { id: 9, name: 'Old school', url: 'https://old.example.org' }
  const old = {
    offered_by: { code: 'unit', name: 'Old', channel_url: 'https://old.example.org' },
    platform: { code: 'place', name: 'Old' },
    departments: [{ department_id: 'X', name: 'Old', channel_url: null, school }],
    topics: [{ id: 900, name: 'Old', icon: 'i', parent: 901, channel_url: null }],
  }
  const channel_url = 'https://new.example.org'
  const renamed = {
    offered_by: { code: 'unit', name: 'New', channel_url: null },
    platform: { code: 'place', name: 'New' },
    departments: [{ department_id: 'X', name: 'New', channel_url, school: { ...school, name: 'N' } }],
    topics: [{ id: 900, name: 'New', icon: '', parent: null, channel_url }],
  }
  const early = minimal('a', { ...old, run_id: 31, resource_id: 31 })
  const late = minimal('b', { ...renamed, run_id: 32, resource_id: 32 })
  for (const batches of [[[early], [late]], [[early, late]]]) {
    for (const batch of batches) await importFiles(...batch)
    t.match(await exported(), { 0: { key: 'a', ...renamed }, 1: { key: 'b', ...renamed } })
  }
  const keys = await exported()
  t.match(await run(['remove', '--id', ...keys.map(({ id }) => String(id))]), { stdout: /^removed 2 files; / })
  const { rows } = await store.postgres.query("SELECT code FROM content_units WHERE code = 'unit'")
  t.strictSame(rows, [{ code: 'unit' }], 'a code stays known when its files are gone')
})

t.test('lists keep their order while tags are sorted by code point', async t => {
  const topic = (id: number) => ({ id, name: `Topic ${id}`, icon: '', parent: null, channel_url: null })
  const department = (code: string) => ({ department_id: code, name: code, channel_url: null, school: null })
  const departments = ['Z', 'A', 'M'].map(department)
  const lists = { topics: [topic(3), topic(1), topic(2)], departments, course_number: ['9.9', '1.1', '9.9'] }
  const content_feature_type = ['\u{1F600}', '\uFFEE', ' Zebra ', 'apple', 'Zebra']
  await importFiles(minimal('k', { ...lists, content_feature_type }))
  t.match(await exported(), [{ ...lists, content_feature_type: ['Zebra', 'apple', '\uFFEE', '\u{1F600}'] }])
})

t.test('a bad line is rejected with its number, field and reason without the others', async t => {
  const wrong = (more: Shape) => JSON.stringify(minimal('wrong', more))
  const twice = ['a', 'b'].map(name => ({ id: 1, name }))
  const cases: [line: string, reason: string | RegExp][] = [
    ['{"key": ', 'is not JSON'],
    ['[1]', 'is not an object'],
    ['{}', /^run_id: is required; key: is required; run_title: is required; .*; and 1 more$/],
    [wrong({ key: '' }), 'key: must not be empty'],
    [wrong({ key: 7 }), 'key: must be a text'],
    [wrong({ id: 0 }), 'id: must be at least 1'],
    [wrong({ id: 1.5 }), 'id: must be a whole number'],
    [wrong({ run_id: 2 ** 53 }), /^run_id: /],
    [wrong({ run_title: 'x'.repeat(257) }), 'run_title: must have at most 256 characters'],
    [wrong({ title: 'a\0b' }), 'title: must be Unicode without NUL'],
    [JSON.stringify(minimal('wrong')).replace('A run', '\\ud800'), 'run_title: must be Unicode without NUL'],
    [wrong({ year: 2 ** 31 }), /^year: /],
    [wrong({ checksum: 'xyz' }), 'checksum: must have 32 hexadecimal digits'],
    [wrong({ content_type: 'audio' }), 'content_type: must be page, file, video or pdf'],
    [wrong({ published: 'yes' }), 'published: must be true or false'],
    [wrong({ created_on: '2024-01-01T00:00:00' }), 'created_on: must be an ISO 8601 time with a zone'],
    [wrong({ created_on: '2024-02-30T00:00:00Z' }), 'created_on: must be an ISO 8601 time with a zone'],
    [wrong({ created_on: '0001-01-01T00:00:00+05:00' }), 'created_on: must be in the years 1 to 9999'],
    [wrong({ resource_id: 'x' }), 'resource_id: must be a whole number'],
    [wrong({ offered_by: null }), 'offered_by: must be an object'],
    [wrong({ offered_by: { code: 'x'.repeat(13), name: '' } }), 'offered_by.code: must have at most 12 characters'],
    [wrong({ platform: { code: 'a,b', name: '' } }), 'platform.code: must not contain a comma'],
    [wrong({ topics: twice }), 'topics: must not name the same one twice'],
    [wrong({ topics: [{ id: 1 }] }), 'topics.0.name: is required'],
    [wrong({ departments: 'none' }), 'departments: must be a list'],
    [wrong({ flashcards: [{ question: 1, answer: '' }] }), 'flashcards.0.question: must be a text'],
    [wrong({ content_feature_type: Array(101).fill('a') }), 'content_feature_type: must have at most 100 entries'],
    [wrong({ content: 'x'.repeat(4 * 1024 * 1024) }), 'is longer than 4194304 bytes'],
  ]
  const lines = ['', ...cases.flatMap(([line], index) => [line, JSON.stringify(minimal(`right ${index}`))]), '']
  const rejects = join(folder, 'rejects.csv')
  const { stdout, exitStatus, message } = await run(['import', '-', '--rejects', rejects], lines.join('\r\n'))
  t.equal(exitStatus, 3)
  t.equal(message, `rejected lines: ${cases.length}`)
  const count = cases.length
  t.match(stdout, `imported ${count} lines: ${count} files added, 0 updated; rejected ${count} lines`)
  t.match(stdout, '\n  -:2: is not JSON\n  -:4: is not an object\n')
  t.match(stdout, `\n  and ${cases.length - 10} more; all are in ${rejects}\n`)
  const answer = await importLines(lines.join('\n'))
  t.equal(answer.rejects.length, cases.length)
  for (const [index, [, reason]] of cases.entries()) t.match(answer.rejects[index], { line: 2 * index + 2, reason })
  t.equal((await exported()).length, cases.length)
  const [header, first] = readFileSync(rejects, 'utf8').split('\n')
  t.equal(header, 'file,line,code,reason,text')
  t.equal(first, '-,2,LINE_MALFORMED,is not JSON,"{""key"": "')
})

t.test('bytes that are not UTF-8 are rejected while a byte order mark is skipped', async t => {
  const line = Buffer.from(linesOf(minimal('k', { title: 'ä' })), 'latin1')
  t.match(await importLines(line), { rejects: [{ line: 1, code: 'LINE_MALFORMED', reason: 'is not UTF-8' }] })
  t.match(await importLines(`\uFEFF${linesOf(minimal('k', { title: 'ä' }))}`), { accepted: 1, rejected: 0 })
  t.match(await importLines(gzipSync(linesOf(minimal('k', { title: 'ö' })))), { changed: 1 })
})

t.test('unknown fields are named', async t => {
  const answer = await importFiles(minimal('k', { titel: 'x', __proto__x: 1 }))
  t.match(answer, { accepted: 1, ignored_fields: ['titel', '__proto__x'] })
})

t.test('times are kept to the microsecond, in UTC', async t => {
  const times = [
    ['2024-05-06T07:08:09.1234567+02:00', '2024-05-06T05:08:09.123456Z'],
    ['2024-05-06T07:08:09Z', '2024-05-06T07:08:09.000000Z'],
    ['1969-12-31T23:59:59.999999Z', '1969-12-31T23:59:59.999999Z'],
    ['9999-12-31T23:59:59.999999-00:00', '9999-12-31T23:59:59.999999Z'],
    ['0001-01-01T00:00:00.000001Z', '0001-01-01T00:00:00.000001Z'],
  ]
  await importFiles(...times.map(([created_on], index) => minimal(`${index}`, { id: index + 1, created_on })))
  const kept = (await exported()).map(file => [times[Number(file['key'])]?.[0], file['created_on']])
  t.strictSame(kept, times)
})

t.test('files are unpublished and removed by id, by run and key, or by a file of lines', async t => {
  const some = generated.filter(file => file.published).slice(0, 10)
  const [a, b, c, d] = some as [GeneratedFile, GeneratedFile, GeneratedFile, GeneratedFile]
  await importLines(contentFileLines(some))
  const unpublish = (...args: string[]) => run(['unpublish', ...args])
  const idsWhere = async (isWanted: (file: Shape) => boolean) => (await exported()).filter(isWanted).map(({ id }) => id)
  const one = await unpublish('--id', String(a.id), '3')
  t.match(one, { stdout: /^unpublished 1 files; 1 names match no file; /, exitStatus: 0 })
  const other = await unpublish('--run', String(b.run_id), '--key', b.key, '--json')
  t.match(other, { stdout: /"changed":1,"unknown":0/ })
  const before = await version()
  t.match(await unpublish('--id', String(a.id)), { stdout: /^unpublished 0 files/ })
  t.equal(await version(), before, 'once more changes nothing')
  t.strictSame(await idsWhere(file => file['published'] === false), [a.id, b.id])

  const file = join(folder, 'old.ndjson')
  writeFileSync(file, `${contentFileLines([c])}{"id":${d.id}}\n{"run_id":1}\nx\n`)
  const removed = await run(['remove', file, '--json'])
  t.equal(removed.exitStatus, 3)
  const answer = JSON.parse(removed.stdout)
  t.match(answer, { changed: 2, unknown: 0, accepted: 2, rejected: 2 })
  t.match(answer.rejects, { 0: { line: 3, reason: 'must have run_id and key, or an id' }, 1: { line: 4 } })
  const left = some.filter(each => each !== c && each !== d).map(({ id }) => id)
  t.strictSame(await idsWhere(() => true), left)
  const texts = 'SELECT FROM content_texts WHERE file_id = ANY($1)'
  t.equal((await store.postgres.query(texts, [[c.id, d.id]])).rowCount, 0, 'their texts are gone too')

  for (const args of [[], ['--run', '1'], ['--key', 'k'], [file, '--id', '1'], ['--id', 'x']]) {
    t.equal((await run(['remove', ...args])).exitStatus, 2, args.join(' '))
  }
})

t.test('a batch is taken whole or not at all', async t => {
  await importFiles(minimal('before'))
  const before = await contents()
  await store.postgres.query("ALTER TABLE content_files ADD CONSTRAINT poison CHECK (own_fields->>'key' <> 'poison')")
  const lines = linesOf(minimal('a'), minimal('b'), minimal('poison', { run_title: 'Changed' }))
  t.match(await post('/import', lines), { status: 500 })
  await store.postgres.query('ALTER TABLE content_files DROP CONSTRAINT poison')
  t.equal(await contents(), before)
})

t.test('batches run one after the other, up to a limit that returns 503', async t => {
  const file = (index: number) =>
    linesOf(minimal('same', { title: `${index}`, run_title: `${index}` }), minimal(`${index}`))
  const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => post('/import', file(index))))
  const statuses = new Set(answers.map(({ status }) => status))
  t.strictSame([...statuses].sort(), [200, 503])
  const taken = answers.filter(({ status }) => status === 200)
  t.equal((await exported()).length, taken.length + 1)
  const refused = answers.find(({ status }) => status === 503)
  t.match(refused, { headers: { 'retry-after': '5' }, body: { title: 'too busy' } })
})

t.test('the routes take NDJSON alone, up to a bound', async t => {
  const refused = { status: 415, body: { detail: 'send application/x-ndjson, not compressed' } }
  t.match(await post('/import', '{}', { 'content-type': 'application/json' }), refused)
  t.match(await post('/import', '{}', { 'content-encoding': 'gzip' }), { status: 415 })
  t.match(await post('/import', '\n\n'), { status: 200, body: { accepted: 0, rejected: 0 } })
  t.match(await post('/remove', 'x'.repeat(9 * 1024 * 1024)), { status: 413 })
})

/** Some texts have single surrogates or NUL. */
const anyText = fc.string({
  unit: fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('\0', '\ud800', '"', '\\', '\u2028', '\r', '\n')),
})
const timeOf = (date: Date) => (Number.isNaN(date.getTime()) ? 'never' : date.toISOString())
const anyFields = fc.record({
  key: fc.oneof(anyText, fc.constantFrom('a', 'b', 'c')),
  title: fc.option(anyText),
  summary: anyText,
  content: fc.option(anyText),
  content_feature_type: fc.array(anyText, { maxLength: 3 }),
  flashcards: fc.array(fc.record({ question: anyText, answer: anyText }), { maxLength: 2 }),
  id: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
  year: fc.option(fc.oneof(fc.integer(), fc.double())),
  created_on: fc.option(fc.date({ noInvalidDate: false }).map(timeOf), { nil: undefined }),
  edx_module_id: fc.option(anyText),
  published: fc.boolean(),
})
const anyLine = fc.oneof(
  { weight: 3, arbitrary: anyFields.map(fields => JSON.stringify(minimal('', fields))) },
  { weight: 1, arbitrary: fc.oneof(fc.json(), anyText) },
)

t.test('lines of any content are returned as they were imported', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyLine, { maxLength: 12 }), async lines => {
      await empty()
      const text = lines.map(line => line.replaceAll('\n', ' ')).join('\n')
      const answer = await importLines(text)
      const first = (await run(['export'])).stdout
      const again = await importLines(first)
      await empty()
      const other = await importLines(first)
      const second = (await run(['export'])).stdout
      const kept = first === '' ? 0 : first.split('\n').length - 1
      if (answer.added !== kept) throw new Error(`${answer.added} were added and ${kept} are there`)
      if (again.changed + again.added + again.rejected !== 0)
        throw new Error(`a second import: ${JSON.stringify(again)}`)
      if (other.added !== kept || second !== first) throw new Error(`not the same:\n${first}\n${second}`)
    }),
    runs(12, 60),
  )
})
