/**
 * The content-file listing with half a million files: the import by the command line, then pages by every kind of
 * filter, some alone and some together, at random offsets, in two sizes. A sample of the answers is compared with what
 * the generated files say.
 *
 * Yardsticks, on as many connections: the page of an unfiltered list in SQL, with its offset; a bare Fastify route that
 * sends the bytes of a page.
 *
 * Usage: node bench/content-files.ts [files] [connections] [seconds for each kind]
 */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { createRandom } from '../demo/weather.ts'
import { barograph } from '../test/support/command-line.ts'
import { temporaryFolder } from '../test/support/databases.ts'
import type { Service } from '../test/support/service.ts'
import { takeLoopDelayP99Ms } from './analytics-load.ts'
import { createBounds } from './bounds.ts'
import { contentFileLines, type GeneratedFile, generateContentFiles } from './content-file-generator.ts'
import { createReference, type Question, type Reference } from './content-file-reference.ts'
import {
  assertAllTaken,
  createHooks,
  hardware,
  percentile,
  printResult,
  round,
  runLoad,
  startProcess,
  stopProcess,
} from './measure.ts'
import { startBenchService } from './service.ts'

const fileCount = Number(process.argv[2] ?? 550_000)
const connections = Number(process.argv[3] ?? 16)
const seconds = Number(process.argv[4] ?? 4)
const seed = 20_261_121
const options = { seed, count: fileCount }
const linesPerWrite = 5_000
const importPerSecondMin = 5_000
const loopDelayMsMax = 20
const listedMsMax = 10_000
const sizes = [
  { limit: 10, p95MsMax: 30 },
  { limit: 100, p95MsMax: 60 },
]
/** Of each kind and size. */
const questionsAsked = 200
const questionsChecked = 10
const sqlPages = 300

const { hooks, closeAll } = createHooks()
const bounds = createBounds()
/** Milliseconds. */
const yardsticks: Record<string, object> = {}
const random = createRandom(seed)

interface Page {
  count: number
  results: { id: number }[]
}

async function ask({ url }: Service, query: string): Promise<Page> {
  const response = await fetch(`${url}/api/v1/contentfiles/?${query}`)
  assert.equal(response.status, 200, query)
  return (await response.json()) as Page
}

/** Writes them to the file while they are looked at. */
function* writing(path: string, files: Iterable<GeneratedFile>): Generator<GeneratedFile> {
  const descriptor = openSync(path, 'w')
  let batch: GeneratedFile[] = []
  for (const file of files) {
    yield file
    batch.push(file)
    if (batch.length < linesPerWrite) continue
    writeSync(descriptor, contentFileLines(batch))
    batch = []
  }
  writeSync(descriptor, contentFileLines(batch))
  closeSync(descriptor)
}

async function measureImport(service: Service, file: string): Promise<void> {
  const tokenFile = join(service.dataDirectory, 'secrets', 'admin-token')
  await takeLoopDelayP99Ms(service)
  const startedMs = performance.now()
  const words = ['--url', service.url, '--token-file', tokenFile, 'content-files', 'import', file, '--json']
  const { status, stdout, stderr } = await barograph(words)
  const tookSeconds = (performance.now() - startedMs) / 1000
  assert.equal(status, 0, stderr)
  assert.equal(JSON.parse(stdout).added, fileCount)
  const perSecond = round(fileCount / tookSeconds)
  const more = { perSecond, megabytes: round(statSync(file).size / 1e6) }
  bounds.atMost('import, seconds', tookSeconds, fileCount / importPerSecondMin, more)
  bounds.atMost('import: delay of the event loop, p99 ms', await takeLoopDelayP99Ms(service), loopDelayMsMax)
}

/** The first request waits until the index holds them all. */
async function untilListed(service: Service, reference: Reference): Promise<void> {
  const startedMs = performance.now()
  while ((await ask(service, 'limit=1')).count !== reference.count) {
    assert(performance.now() - startedMs < listedMsMax, 'not all files are listed')
  }
  const loopMs = round(await takeLoopDelayP99Ms(service))
  bounds.atMost('all are listed behind the import, ms', performance.now() - startedMs, listedMsMax, { loopMs })
}

function requestOf(path: string): string {
  return `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`
}

async function measurePages(service: Service, reference: Reference): Promise<Question[]> {
  const generator = startProcess('load-generator.ts')
  hooks.teardown(() => stopProcess(generator))
  const bare = startProcess('bare-fastify.ts')
  hooks.teardown(() => stopProcess(bare))
  const [barePort] = await once(bare, 'message')
  const load = async (port: number, requests: string[]) => {
    const result = await runLoad(generator, { host: '127.0.0.1', port, connections, seconds, requests })
    assertAllTaken(result)
    return {
      p95Ms: result.p95Ms,
      more: { p50: round(result.p50Ms), perSecond: round(result.answers / result.elapsedSeconds) },
    }
  }
  const port = Number(new URL(service.url).port)
  const checked: Question[] = []
  await load(port, [requestOf('/api/v1/contentfiles/')])
  for (const { limit, p95MsMax } of sizes) {
    // All of them first, for a service that waits would look like one that is free.
    const asked = reference.kinds.map(kind => {
      const questions = Array.from({ length: questionsAsked }, () => reference.question(kind, limit, random))
      return { kind, questions }
    })
    await takeLoopDelayP99Ms(service)
    for (const { kind, questions } of asked) {
      checked.push(...questions.slice(0, questionsChecked))
      const { p95Ms, more } = await load(
        port,
        questions.map(({ query }) => requestOf(`/api/v1/contentfiles/?${query}`)),
      )
      bounds.atMost(`limit=${limit}, ${kind}, p95 ms`, p95Ms, p95MsMax, more)
    }
    bounds.atMost(`limit=${limit}: delay of the event loop, p99 ms`, await takeLoopDelayP99Ms(service), loopDelayMsMax)
    bare.send({ body: JSON.stringify(await ask(service, `limit=${limit}`)) })
    const { p95Ms, more } = await load(barePort, [requestOf('/api/latest/all/24')])
    yardsticks[`limit=${limit}: the same bytes from a bare Fastify route`] = { p95: round(p95Ms), ...more }
  }
  return checked
}

/** The ids of a page and the count as the reference has them, and each file as it was generated. */
async function check(service: Service, questions: readonly Question[]): Promise<number> {
  const shown = new Map<number, object>()
  for (const { query, answer } of questions) {
    const { count, results } = await ask(service, query)
    assert.deepEqual({ count, ids: results.map(({ id }) => id) }, answer(), query)
    for (const file of results) shown.set(file.id, file)
  }
  for (const { created_on: _, published: __, content: ___, ...file } of generateContentFiles(options)) {
    const object = shown.get(file.id)
    if (object !== undefined) assert.deepEqual(object, file)
  }
  return shown.size
}

/** A list without filters, by its index, as a page would be read without ours. */
async function measureSql(databaseUrl: string, count: number): Promise<void> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: connections })
  const sql = `SELECT files.* FROM content_files files WHERE published
    ORDER BY created_on DESC, id DESC LIMIT 10 OFFSET $1`
  const ms: number[] = []
  let left = sqlPages
  const read = async () => {
    for (; left > 0; left--) {
      const startedMs = performance.now()
      await pool.query(sql, [Math.floor(random() * count)])
      ms.push(performance.now() - startedMs)
    }
  }
  await Promise.all(Array.from({ length: connections }, read))
  await pool.end()
  yardsticks['limit=10: a page without filters in SQL'] = {
    p95: round(percentile(ms, 0.95)),
    p50: round(percentile(ms, 0.5)),
  }
}

async function bench(): Promise<void> {
  const { service, environment } = await startBenchService(hooks, 1)
  const path = join(temporaryFolder(hooks), 'files.ndjson')
  const reference = createReference(writing(path, generateContentFiles(options)))
  await measureImport(service, path)
  await untilListed(service, reference)
  const questions = await measurePages(service, reference)
  await measureSql(environment['DATABASE_URL'] ?? '', reference.count)
  const checkedFiles = await check(service, questions)
  const checked = { pages: questions.length, files: checkedFiles }
  const asked = { files: fileCount, connections, seconds }
  printResult({
    bench: 'content-files',
    ...asked,
    checked,
    figures: bounds.figures(),
    yardsticks,
    hardware: hardware(),
  })
  if (bounds.missed().length > 0) throw new Error(`not as asked: ${bounds.missed().join('; ')}`)
}

try {
  await bench()
} finally {
  await closeAll()
}
