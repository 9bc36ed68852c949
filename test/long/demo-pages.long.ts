/** QuestDB under the demo's pages and reads: queries end with the page, and no plan costs more than the rows that it reads. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import t from 'tap'
import type { OpenApiDocument } from '../../api/docs/contract.ts'
import { airStations } from '../../cli/demo/air-quality/stations.ts'
import { stations } from '../../cli/demo/stations.ts'
import { journalsSql } from '../../ingest/forwarder/applied-positions.ts'
import { pointsStatement } from '../../query/latest.ts'
import { basicOf } from '../support/air-quality.ts'
import { openBrowser } from '../support/browser.ts'
import { desk, inBrowser } from '../support/browser-page.ts'
import { temporaryFolder } from '../support/databases.ts'
import { startDemo } from '../support/demo.ts'
import { serverPid } from '../support/processes.ts'
import { hasLongList, isMadeOf, limitedTexts, traceStatements } from '../support/sent-statements.ts'
import { waitFor } from '../support/wait-for.ts'

const dataDirectory = join(temporaryFolder(t), 'data')
const demo = await startDemo(t, dataDirectory)
await demo.caughtUp()
const ready = async () => ((await (await fetch(`${demo.url}/health/ready`)).json()) as { status: string }).status
await waitFor('all is ready', async () => (await ready()) === 'ok')
const statements = await traceStatements(t, dataDirectory)
const browser = await openBrowser()
t.teardown(() => browser.close())

const devices = stations.map(({ name }) => name)
/** The demo's devices have an interval. The interval of this device is computed from its readings. */
const plain = 'plain'
await addDevice()
const sns = airStations.map(({ sn }) => sn)
const paths = [
  '/',
  '/wall',
  '/charts',
  `/charts?devices=${devices.slice(0, 2).join()}&range=30d`,
  `/compare?a=${devices[0]}&b=${devices[1]}`,
  '/alerts',
  '/admin',
  '/account',
  '/docs',
  ...[...devices, plain].map(name => `/device/${name}?range=30d`),
  ...sns.map(sn => `/station/${sn}?range=30d`),
]

async function addDevice(): Promise<void> {
  const token = readFileSync(join(dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
  const send = async (method: string, path: string, authorization: string, body: object) => {
    const headers = { authorization, 'content-type': 'application/json' }
    const response = await fetch(demo.url + path, { method, headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(await response.text())
    return (await response.json()) as Record<string, string>
  }
  const bearer = `Bearer ${token}`
  const device = { name: plain, expected_interval_seconds: 60 }
  const { password } = await send('POST', '/api/admin/devices', bearer, device)
  for (const daysAgo of [4, 3, 0]) {
    const timestamp = Date.now() - daysAgo * 86_400_000
    const reading = { device: plain, temperature: 20, humidity: 40, pressure: 1000, timestamp }
    await send('PUT', '/api/log', basicOf(plain, password ?? ''), reading)
  }
  await send('PATCH', `/api/admin/devices/${plain}`, bearer, { expected_interval_seconds: null })
}

/** Resolves when each request is answered, except for the endless stream of events. */
async function untilAnswered(page: Page, path: string): Promise<void> {
  const open = new Set<unknown>()
  let sent = 0
  page.on('request', request => {
    if (request.url().includes('/api/events')) return
    open.add(request)
    sent++
  })
  page.on('requestfinished', request => open.delete(request))
  page.on('requestfailed', request => open.delete(request))
  await page.goto(demo.url + path)
  await page.locator('h1').first().waitFor()
  let seen = -1
  await waitFor(`${path} has its answers`, async () => {
    const isQuiet = open.size === 0 && sent === seen
    seen = sent
    await page.mouse.wheel(0, 1000)
    await page.waitForTimeout(300)
    return isQuiet
  })
}

/** Closes the page before its requests are answered. */
async function glance(page: Page, path: string): Promise<void> {
  await page.goto(demo.url + path)
  await page.locator('h1').first().waitFor()
}

t.test('QuestDB becomes idle after the pages are closed', async t => {
  for (const path of paths) await inBrowser(t, browser, desk, page => untilAnswered(page, path))
  for (const sn of sns) await inBrowser(t, browser, desk, page => glance(page, `/station/${sn}`))
  const pid = serverPid({ path: dataDirectory }, 'questdb')
  await waitFor('no statement of a page runs', async () => (await statements.running()).length === 0)
  await waitFor('QuestDB takes little processor time', async () => {
    const before = processorTicks(pid)
    for (let count = 0; count < 10; count++) await statements.running()
    await new Promise(resolve => setTimeout(resolve, 1000))
    return processorTicks(pid) - before < ticksOfRest
  })
  const response = await fetch(`${demo.url}/api/stations/${sns[0]}/stats_data`)
  t.equal(response.status, 200, await response.text())
  t.equal(await ready(), 'ok')
})

/** A hundred ticks are a second of one processor. */
const ticksOfRest = 50

function processorTicks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11)
    .map(Number)
  return (user ?? 0) + (system ?? 0)
}

t.test('no statement has a list of top rows with a large limit', async t => {
  t.strictSame(await refusedReads(await readPaths()), [])
  const texts = await statements.texts()
  // A response is thinned by means only if it is larger than those of the demo.
  const ofMeans = pointsStatement({ symbols: undefined, startUs: 0, endUs: 1 }, 60, rowsMax)
  const found = [...texts, ofMeans.text, journalsSql]
  const missing = limitedTexts()
    .filter(({ file }) => !ofPostgres.some(path => file.startsWith(path)))
    .filter(({ parts }) => !/LIMIT -?1$/.test(parts.at(-1) ?? ''))
    .filter(limited => !found.some(text => isMadeOf(text, limited)))
  t.strictSame(missing, [], 'each text of the product that has a limit was sent')
  const wrong: string[] = []
  for (const text of found) if (await hasLongList(statements, text)) wrong.push(text)
  t.strictSame(wrong, [])
  t.ok(await hasLongList(statements, longList), 'such a statement is seen')
})

/** Folders and files with statements for PostgreSQL. */
const ofPostgres = [
  'alerts/',
  'annotations/',
  'auth/',
  'service/backup/postgres-tables.ts',
  'cli/merge-replicas.ts',
  'content/',
  'ingest/journal/',
  'ingest/kafka/',
  'service/lifecycle/erasure/erase-records.ts',
  'service/set-aside.ts',
]
const rowsMax = 1_000_000
const longList = `SELECT ts FROM (SELECT ts FROM points WHERE series = 1 GROUP BY ts) ORDER BY ts LIMIT ${rowsMax}`

/** Paths of every read in the contract, with values for its parameters. */
async function readPaths(): Promise<string[]> {
  const { paths } = (await (await fetch(`${demo.url}/openapi.json`)).json()) as OpenApiDocument
  const hours = [1, 24 * 30].map(count => new Date(Date.now() - count * 3_600_000).toISOString())
  const [hourAgo = '', monthAgo = ''] = hours
  const range = { start: monthAgo, end: hourAgo }
  const variants: Record<string, string>[] = [
    { above: '10' },
    { ...range, above: '10', step: '3600' },
    { ...range, format: 'csv' },
    { ...range, format: 'parquet' },
    { devices: devices.slice(0, 2).join() },
    { sort: 'value_1min,desc', page: '3' },
    { sort: 'id,desc', page: '2' },
    { sort: 'timestamp,asc', page: '30' },
    { sort: 'value_60min,desc' },
    { filter: 'parameter,eq,pm25', per_page: '500' },
    { format: 'csv', filter: `timestamp,ge,${monthAgo}` },
  ]
  return Object.entries(paths).flatMap(([path, { get }]) => {
    if (get === undefined || !/^\/api\/(?!admin|v1\/|v2)/.test(path) || path === '/api/events') return []
    const named = path
      .replace('{hour}', '72')
      .replace('{date}', hourAgo.slice(0, 10))
      .replace('{sn}', sns[0] ?? '')
      .replace('{device}', plain)
      .replaceAll(/\{\w+\}/g, '1')
    const needed: Record<string, string> = {
      a: devices[0] ?? '',
      b: devices[1] ?? '',
      device: devices[0] ?? '',
      metric: path.includes('{sn}') ? 'pm25' : 'temperature',
      key: 'room',
      start: monthAgo,
    }
    const known = (get.parameters ?? []).filter(({ in: place }) => place === 'query')
    const required = known.filter(parameter => parameter.required).map(({ name }) => [name, needed[name] ?? '1'])
    const asked = variants.map(variant => {
      const fitting = Object.entries(variant).filter(([name]) => known.some(parameter => parameter.name === name))
      return new URLSearchParams({ ...Object.fromEntries(required), ...Object.fromEntries(fitting) }).toString()
    })
    return [...new Set(asked)].map(query => (query === '' ? named : `${named}?${query}`))
  })
}

/** Requests the paths one by one. Returns those with an error of QuestDB. */
async function refusedReads(paths: readonly string[]): Promise<string[]> {
  const { account } = JSON.parse(readFileSync(join(dataDirectory, 'demo', 'state.json'), 'utf8')) as {
    account: { key: string }
  }
  const refused: string[] = []
  for (const path of paths) {
    const headers = path.startsWith('/api/v1.0/') ? { authorization: basicOf(account.key) } : undefined
    const response = await fetch(demo.url + path, headers === undefined ? {} : { headers })
    if (response.status >= 500) refused.push(`${response.status} ${path}`)
    await response.body?.pipeTo(new WritableStream())
  }
  return refused
}
