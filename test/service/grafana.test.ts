/** The dashboards of docs/grafana, as Grafana would ask for them: each statement by the reader, over readings. */

import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import pg from 'pg'
import t, { type Test } from 'tap'
import type { TestHooks } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { startService } from '../support/service.ts'
import { lendQuestdb } from '../support/worker-questdb.ts'

interface Target {
  rawSql: string
  format: string
  datasource: { uid: string; type: string }
}

interface Dashboard {
  uid: string
  panels: { id: number; title: string; datasource: { uid: string }; interval: string; targets: Target[] }[]
  templating: { list: { name: string; query: string; datasource: { uid: string } }[] }
}

const folder = resolve(import.meta.dirname, '..', '..', 'docs', 'grafana')
const dashboards = readdirSync(join(folder, 'dashboards')).map(
  name => JSON.parse(readFileSync(join(folder, 'dashboards', name), 'utf8')) as Dashboard,
)
const source = readFileSync(join(folder, 'provisioning', 'datasources', 'barograph.yaml'), 'utf8')
const sourceHas = (key: string) => new RegExp(`^\\s+(?:- )?${key}: (\\S+)$`, 'm').exec(source)?.[1]

t.test('every panel and variable is of the data source', async t => {
  t.equal(dashboards.length, 3)
  const uid = sourceHas('uid')
  t.equal(uid, 'barograph')
  for (const { panels, templating } of dashboards) {
    t.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
    for (const panel of panels) {
      t.equal(panel.datasource.uid, uid, panel.title)
      t.equal(panel.interval, '1m', 'QuestDB writes milliseconds otherwise')
      for (const { datasource } of panel.targets)
        t.strictSame(datasource, { uid, type: sourceHas('type') }, panel.title)
    }
    for (const { datasource } of templating.list) t.equal(datasource.uid, uid)
  }
})

const expand = (sql: string) =>
  sql
    .replaceAll(/\$__timeFilter\((\w+)\)/g, "$1 BETWEEN '2026-03-01T00:00:00Z' AND '2026-03-02T00:00:00Z'")
    .replaceAll('$__interval', '1h')
    .replaceAll(/\$\{device:sqlstring\}/g, "'anna-s-kitchen-1'")
    .replaceAll(/\$\{metric:sqlstring\}/g, "'1'")

type Read = (sql: string) => Promise<unknown[][]>

/** A service with two devices, and statements to its QuestDB. `test/service/restarts.test.ts` covers the reader. */
async function startReading(t: TestHooks): Promise<Read> {
  const { settings } = await lendQuestdb(t)
  const service = await startService(t, { environment: settings })
  await service.addDevice("Anna's kitchen", { location_short: 'House 1' })
  await service.addDevice('attic')
  const times = ['2026-03-01T10:00:00Z', '2026-03-01T10:30:00Z', '2026-03-01T12:10:00Z']
  const head = 'timestamp,device,temperature,humidity,pressure,battery_voltage,battery_percentage,co2'
  const lines = times.map((time, at) => `${time},Anna's kitchen,${20 + at},50,1000,3.1,${90 - at},${400 + 100 * at}`)
  await service.import([head, ...lines, '2026-03-01T10:10:00Z,attic,10,60,990,,,900', ''].join('\n'))
  const isReady = async () => (await fetch(`${service.url}/health/ready`)).json()
  await until('QuestDB is up', async () => ((await isReady()) as { status: string }).status === 'ok')
  const reader = new pg.Client({ connectionString: settings.QUESTDB_PG })
  await reader.connect()
  t.teardown(() => reader.end())
  return async sql => (await reader.query({ text: sql, rowMode: 'array' })).rows
}

async function readPanels(t: Test, read: Read): Promise<Map<string, unknown[][]>> {
  const found = new Map<string, unknown[][]>()
  for (const { uid, panels } of dashboards) {
    for (const { title, targets } of panels) {
      for (const { rawSql } of targets) {
        const text = expand(rawSql)
        t.notMatch(text, /\$/, `${title}: nothing is left for Grafana to put in`)
        found.set(`${uid}: ${title}`, await read(text))
      }
    }
  }
  return found
}

/** The numbers of rows that the statements of the page return. */
async function documentedCounts(read: Read): Promise<number[]> {
  const page = readFileSync(join(folder, '..', 'grafana.md'), 'utf8')
  const documented = [...page.matchAll(/```\n(SELECT ts, [^`]*)```/g)].map(([, sql = '']) =>
    expand(sql).replace("'Kitchen'", "'Anna''s kitchen'").replace("'hall-3'", "'anna-s-kitchen-1'"),
  )
  const counts: number[] = []
  for (const sql of documented) counts.push((await read(sql)).length)
  return counts
}

t.test('every statement gives the rows of the readings', async t => {
  const read = await startReading(t)
  const variables = dashboards.flatMap(({ templating }) => templating.list)
  const variable = variables.find(({ name }) => name === 'device')
  const ofMetrics = expand(variables.find(({ name }) => name === 'metric')?.query ?? '')
  await until('names and readings are there', async () => {
    const [[readings] = []] = await read('SELECT count() FROM readings')
    const [[values] = []] = await read('SELECT count() FROM measurements_named').catch(() => [])
    const names = await read(variable?.query ?? '').catch(() => [])
    return readings === '4' && names.length === 2 && values === '4'
  })
  t.equal((await read(variable?.query ?? '')).join('; '), "Anna's kitchen,anna-s-kitchen-1; attic,attic-2")
  t.strictSame(await read(ofMetrics), [['co2', 1]])
  const panels = await readPanels(t, read)
  /** Columns of a row are separated by commas, rows by semicolons. Interval times are left out. */
  const expected: Record<string, string> = {
    'fleet: Devices reporting': '2',
    'fleet: Devices': '2',
    'fleet: Readings': '4',
    'fleet: Readings per interval': '3; 1',
    'fleet: Temperature of the fleet': '10,17,21; 22,22,22',
    'fleet: Latest readings': '10,60,990,,; 22,50,1000,3.1,88',
    'fleet: Lowest batteries': "Anna's kitchen,88,3.1",
    'device: Temperature': '20,20.5,21; 22,22,22',
    'device: Battery charge': '89,89.5,90; 88,88,88',
    'device: Readings': '3',
    'device: Place': 'House 1',
    'metric: Values': '400,450,500; 600,600,600',
    'metric: Last of each interval': '500; 600',
    'metric: Number of values': '3',
    'metric: Last value': '600',
  }
  for (const [name, wanted] of Object.entries(expected)) {
    const columns = wanted.split(';')[0]?.split(',').length
    const rows = panels.get(`barograph-${name}`)?.map(row => row.slice(-(columns ?? 0)).join())
    t.equal(rows?.join('; '), wanted, name)
  }
  for (const [name, rows] of panels) t.ok(rows.length > 0, `${name} has rows`)
  t.strictSame(await documentedCounts(read), [3, 2, 4])
})
