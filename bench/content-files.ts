/**
 * The content-file listing with half a million files: the import by the command line, then pages by every kind of
 * filter, alone and combined, at random offsets, in two sizes. A sample of the responses is compared with the
 * generated files. Baselines: the same lines inserted as JSON by plain SQL, and a bare Fastify route that sends the
 * bytes of a page, on as many connections. The import is compared with the event loop of the idle service. A page of
 * an unfiltered list in SQL is printed for comparison.
 *
 * Usage: node bench/content-files.ts [files] [connections] [seconds for each kind]
 */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { closeSync, createReadStream, openSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { quantile } from 'simple-statistics'
import { contentFileLines, type GeneratedFile, generateContentFiles } from '../cli/demo/content-file-generator.ts'
import { createRandom } from '../cli/demo/noise.ts'
import { barograph } from '../test/support/command-line.ts'
import { temporaryFolder } from '../test/support/databases.ts'
import type { Service } from '../test/support/service.ts'
import { takeLoopP99Ms } from './analytics-load.ts'
import { startBench } from './bounds.ts'
import { createReference, type Reference, type TestQuery } from './content-file-reference.ts'
import { assertAllTaken, round, runLoad, sleep, startProcess, stopProcess } from './measure.ts'
import { startBenchService } from './service.ts'

const fileCount = Number(process.argv[2] ?? 550_000)
const connections = Number(process.argv[3] ?? 16)
const seconds = Number(process.argv[4] ?? 4)
const seed = 20_261_121
const options = { seed, count: fileCount }
const linesPerWrite = 5_000
const importMax = 12
const importLoopMax = 4
/** A turn takes ten milliseconds at least, as the histogram counts. */
const loopMax = 30
const pageMax = 20
const idleMs = 3000
const limits = [10, 100]
/** Queries for each kind and size. */
const queriesPerKind = 200
const queriesVerified = 10
const sqlPages = 300

const { hooks, bounds, run } = startBench()
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

/** Writes the files to `path` while they are iterated. */
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

async function measureImport(service: Service, file: string, databaseUrl: string): Promise<void> {
  const tokenFile = join(service.dataDirectory, 'secrets', 'admin-token')
  const idleP99Ms = await takeIdleLoopP99Ms(service)
  const startedMs = performance.now()
  const words = ['--url', service.url, '--token-file', tokenFile, 'content-files', 'import', file, '--json']
  const { status, stdout, stderr } = await barograph(words)
  const tookSeconds = (performance.now() - startedMs) / 1000
  assert.equal(status, 0, stderr)
  assert.equal(JSON.parse(stdout).added, fileCount)
  const p99Ms = await takeLoopP99Ms(service)
  bounds.atMost('import: turn of the event loop, p99, times the idle service', p99Ms / idleP99Ms, importLoopMax, {
    p99Ms: round(p99Ms),
    yardstickMs: round(idleP99Ms),
  })
  const sqlSeconds = await insertPlainly(databaseUrl, file)
  bounds.atMost('import, times plain SQL', tookSeconds / sqlSeconds, importMax, {
    seconds: round(tookSeconds),
    perSecond: round(fileCount / tookSeconds),
    yardstickSeconds: round(sqlSeconds),
    megabytes: round(statSync(file).size / 1e6),
  })
}

/** The event-loop delay of the idle service. */
async function takeIdleLoopP99Ms(service: Service): Promise<number> {
  await takeLoopP99Ms(service)
  await sleep(idleMs)
  return await takeLoopP99Ms(service)
}

/** Inserts the same lines into a table of JSON with the same key, as many at a time. Returns the seconds. */
async function insertPlainly(databaseUrl: string, file: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(
    'CREATE TEMPORARY TABLE plain_files (run text, key text, file jsonb NOT NULL, PRIMARY KEY (run, key))',
  )
  const sql = `INSERT INTO plain_files SELECT file ->> 'run_id', file ->> 'key', file
    FROM jsonb_array_elements($1::jsonb) AS file ON CONFLICT (run, key) DO UPDATE SET file = excluded.file`
  const startedMs = performance.now()
  let batch: string[] = []
  for await (const line of createInterface({ input: createReadStream(file) })) {
    batch.push(line)
    if (batch.length < linesPerWrite) continue
    await client.query(sql, [`[${batch.join()}]`])
    batch = []
  }
  await client.query(sql, [`[${batch.join()}]`])
  const seconds = (performance.now() - startedMs) / 1000
  await client.end()
  return seconds
}

/** Milliseconds until the index contains all files. */
async function untilListed(service: Service, reference: Reference): Promise<number> {
  const startedMs = performance.now()
  while ((await ask(service, 'limit=1')).count !== reference.count) await sleep(100)
  return round(performance.now() - startedMs)
}

function requestOf(path: string): string {
  return `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`
}

async function measurePages(service: Service, reference: Reference): Promise<TestQuery[]> {
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
      more: { p50Ms: round(result.p50Ms), perSecond: round(result.answers / result.elapsedSeconds) },
    }
  }
  const port = Number(new URL(service.url).port)
  const checked: TestQuery[] = []
  await load(port, [requestOf('/api/v1/contentfiles/')])
  for (const limit of limits) {
    // Generated before the load starts, so that generating does not reduce the load.
    const plans = reference.kinds.map(kind => {
      const queries = Array.from({ length: queriesPerKind }, () => reference.createQuery(kind, limit, random))
      return { kind, queries }
    })
    bare.send({ body: JSON.stringify(await ask(service, `limit=${limit}`)) })
    const yardstick = await load(barePort, [requestOf('/api/latest/all/24')])
    const yardstickMs = yardstick.p95Ms
    await takeLoopP99Ms(service)
    for (const { kind, queries } of plans) {
      checked.push(...queries.slice(0, queriesVerified))
      const { p95Ms, more } = await load(
        port,
        queries.map(({ query }) => requestOf(`/api/v1/contentfiles/?${query}`)),
      )
      const figure = { p95Ms: round(p95Ms), yardstickMs: round(yardstickMs), ...more }
      bounds.atMost(`limit=${limit}, ${kind}, p95, times bare Fastify`, p95Ms / yardstickMs, pageMax, figure)
    }
    const p99Ms = await takeLoopP99Ms(service)
    bounds.atMost(
      `limit=${limit}: turn of the event loop, p99, times bare Fastify's p95`,
      p99Ms / yardstickMs,
      loopMax,
      {
        p99Ms: round(p99Ms),
        yardstickMs: round(yardstickMs),
      },
    )
  }
  return checked
}

/** The ids of a page and the count as the reference has them, and each file as it was generated. */
async function check(service: Service, queries: readonly TestQuery[]): Promise<number> {
  const shown = new Map<number, object>()
  for (const { query, expected } of queries) {
    const { count, results } = await ask(service, query)
    assert.deepEqual({ count, ids: results.map(({ id }) => id) }, expected(), query)
    for (const file of results) shown.set(file.id, file)
  }
  for (const { created_on: _, published: __, content: ___, ...file } of generateContentFiles(options)) {
    const object = shown.get(file.id)
    if (object !== undefined) assert.deepEqual(object, file)
  }
  return shown.size
}

/** An unfiltered page by SQL, using the database index. */
async function measureSql(databaseUrl: string, count: number): Promise<object> {
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
  return { p95Ms: round(quantile(ms, 0.95)), p50Ms: round(quantile(ms, 0.5)) }
}

async function bench(): Promise<void> {
  const { service, environment } = await startBenchService(hooks, 1)
  const path = join(temporaryFolder(hooks), 'files.ndjson')
  const reference = createReference(writing(path, generateContentFiles(options)))
  const databaseUrl = environment['DATABASE_URL'] ?? ''
  await measureImport(service, path, databaseUrl)
  const listedMs = await untilListed(service, reference)
  const queries = await measurePages(service, reference)
  const sqlPage = await measureSql(databaseUrl, reference.count)
  const checkedFiles = await check(service, queries)
  const checked = { pages: queries.length, files: checkedFiles }
  const parameters = { files: fileCount, connections, seconds }
  bounds.conclude({ bench: 'content-files', ...parameters, checked, listedMs, sqlPage })
}

await run(bench)
