/**
 * Bulk bodies until they are acknowledged and QuestDB shows them, against the same readings as line protocol posted
 * straight to QuestDB's own `/write`, into a table of the same description, over as many connections; in turns. In the
 * order `scattered` also against our own rate in the order of time, and line protocol with five further values a row against
 * our own rate without, in values a second. The devices are known to the service; the first pair
 * of runs, in which QuestDB sees each for the first time, is printed apart.
 *
 * Usage: node bench/ingest.ts [--format line-protocol,csv,ndjson] [--devices 1000] [--rows 400000] [--connections 4]
 *   [--pairs 5] [--order time|scattered|fleet] [--days 60] [--seed 1] [--lines 10000] [--peers]
 */

import { parseArgs } from 'node:util'
import { median } from 'simple-statistics'
import { connectQuestdb } from '../ingest/forwarder/questdb.ts'
import { measurementsTable, metrics, readingsTable, readingsTableSql } from '../store/tables.ts'
import { createBounds } from './bounds.ts'
import { addKeys, type BulkTarget, bodiesOf, postAll } from './bulk-load.ts'
import { type FleetPlan, type Order, orders } from './fleet.ts'
import { type BulkFormat, bulkFormats, furtherCount, furtherLinesOf, linesOf, postedTable } from './ingest-formats.ts'
import { createHooks, hardware, ratios, round, sleep, spread } from './measure.ts'
import { measurePeers } from './peers.ts'
import { type BenchService, startBenchService } from './service.ts'

const { values: options } = parseArgs({
  options: {
    format: { type: 'string', default: 'line-protocol,csv,ndjson' },
    devices: { type: 'string', default: '1000' },
    rows: { type: 'string', default: '400000' },
    connections: { type: 'string', default: '4' },
    pairs: { type: 'string', default: '5' },
    order: { type: 'string', default: 'time' },
    days: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    lines: { type: 'string', default: '10000' },
    peers: { type: 'boolean', default: false },
  },
})
const connections = Number(options.connections)
const pairs = Number(options.pairs)
const linesPerBody = Number(options.lines)
const order = known('order', options.order, orders)
const formats = options.format.split(',').map(name => known('format', name, Object.keys(bulkFormats)))
const devices = Number(options.devices)
const rows = Number(options.rows)
const stepMs = 60_000
const dayMs = 86_400_000
const scatteredMin = 0.5
const furtherMin = 0.7

function known<Name extends string>(option: string, name: string, names: readonly Name[]): Name {
  const found = names.find(each => each === name)
  if (found === undefined) throw new Error(`--${option} takes ${names.join(', ')}`)
  return found
}

const { hooks, closeAll } = createHooks()
const bounds = createBounds()

/** In the order of time each run is later than the runs before; otherwise all lie in the same days, at other times. */
function createPlans() {
  const spanMs = Math.ceil(rows / devices) * stepMs
  const runs = (2 * formats.length + 2) * (pairs + 1)
  let run = 0
  return (runOrder: Order): FleetPlan => {
    const plan = { devices, rows, seed: Number(options.seed), order: runOrder }
    if (runOrder === 'scattered') {
      // Readings of another run have other milliseconds.
      const startMs = Math.floor(Date.now() / dayMs - Number(options.days) - 1) * dayMs + run++
      return { ...plan, startMs, endMs: startMs + Number(options.days) * dayMs }
    }
    const startMs = Math.floor(Date.now() / stepMs) * stepMs - (runs - run++ + 1) * spanMs
    return { ...plan, startMs, endMs: startMs + spanMs }
  }
}

interface Rate {
  shown: number
  acknowledged: number
}

/** Posts to a table and waits until all that it ever got is there, and in that of further values. */
function createMeter({ query }: BenchService['store'], table: string) {
  const expected = { rows: 0, further: 0 }
  const count = async (ofTable: string) => Number((await query(`SELECT count() FROM ${ofTable}`))[0]?.[0])
  return {
    /** `further`: values in each reading beside the five. */
    async rate(target: BulkTarget, bodies: readonly Buffer[], further = 0): Promise<Rate> {
      expected.rows += rows
      expected.further += further * rows
      const startedMs = performance.now()
      await postAll(target, bodies)
      const acknowledgedMs = performance.now()
      while ((await count(table)) < expected.rows) await sleep(20)
      while (further > 0 && (await count(measurementsTable)) < expected.further) await sleep(20)
      const perSecond = (ms: number) => (rows / (ms - startedMs)) * 1000
      return { shown: perSecond(performance.now()), acknowledged: perSecond(acknowledgedMs) }
    },
    count: () => count(table),
    isWhole: async () =>
      (await count(table)) === expected.rows && (await count(measurementsTable)) === expected.further,
  }
}

async function bench(): Promise<void> {
  const { store, port, environment } = await startBenchService(hooks, devices)
  const keys = await addKeys(environment['DATABASE_URL'] ?? '', connections)
  await createPostedTable(store)
  const { http } = store.questdb
  const postedTo = { host: http.host, port: http.port, path: '/write', headers: { authorization: http.authorization } }
  const questdb: BulkTarget = { connections: Array.from({ length: connections }, () => postedTo), status: 204 }
  const ours = createMeter(store, readingsTable)
  const posted = createMeter(store, postedTable)
  const nextPlan = createPlans()

  const targetOf = ({ path, contentType, status }: BulkFormat): BulkTarget => {
    const headersOf = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': contentType })
    return { connections: keys.map(key => ({ port, path, headers: headersOf(key) })), status }
  }

  async function measure(name: string): Promise<void> {
    const format = bulkFormats[name] as BulkFormat
    const target = targetOf(format)
    const runs: Rate[] = []
    const inOrder: number[] = []
    const yardsticks: number[] = []
    for (let pair = 0; pair <= pairs; pair++) {
      const plan = nextPlan(order)
      const bodies = bodiesOf(plan, linesPerBody, format.body)
      const run = await ours.rate(target, bodies)
      const yardstick = await posted.rate(
        questdb,
        format.body === linesOf ? bodies : bodiesOf(plan, linesPerBody, linesOf),
      )
      const alike =
        order === 'scattered' ? await ours.rate(target, bodiesOf(nextPlan('time'), linesPerBody, format.body)) : run
      if (pair === 0) {
        firstSight[name] = { perSecond: round(run.shown), questdbPerSecond: round(yardstick.shown) }
        continue
      }
      runs.push(run)
      inOrder.push(alike.shown)
      yardsticks.push(yardstick.shown)
    }
    const shown = runs.map(run => run.shown)
    const rates = ratios(shown, yardsticks)
    bounds.atLeast(`${name}, readings a second, times QuestDB alone`, median(rates), format.rateMin, {
      ratios: spread(rates),
      perSecond: spread(shown),
      questdbPerSecond: spread(yardsticks),
      acknowledgedPerSecond: spread(runs.map(run => run.acknowledged)),
    })
    if (order !== 'scattered') return
    const own = ratios(shown, inOrder)
    bounds.atLeast(`${name}, scattered, times in the order of time`, median(own), scatteredMin, {
      ratios: spread(own),
      inOrderPerSecond: spread(inOrder),
    })
  }

  const firstSight: Record<string, object> = {}
  for (const name of formats) await measure(name)
  if (formats.includes('line-protocol')) {
    await measureFurther(ours, targetOf(bulkFormats['line-protocol'] as BulkFormat), nextPlan)
  }
  bounds.must('all that was acknowledged is stored, once', await ours.isWhole())
  const peers = options.peers
    ? await measurePeers(hooks, bodiesOf(nextPlan(order), linesPerBody, linesOf), { connections, runs: pairs, rows })
    : undefined
  bounds.conclude({
    bench: 'ingest',
    devices,
    rows,
    order,
    connections,
    pairs,
    stored: await ours.count(),
    firstSight,
    peers,
    hardware: hardware(),
  })
}

type Meter = ReturnType<typeof createMeter>

/** Line protocol with further values in each row, and without, in turns. */
async function measureFurther(ours: Meter, target: BulkTarget, nextPlan: (of: Order) => FleetPlan): Promise<void> {
  const [few, many]: [number[], number[]] = [[], []]
  // The first pair makes the metrics.
  for (let pair = 0; pair <= pairs; pair++) {
    const { shown } = await ours.rate(target, bodiesOf(nextPlan(order), linesPerBody, linesOf))
    const further = await ours.rate(target, bodiesOf(nextPlan(order), linesPerBody, furtherLinesOf), furtherCount)
    if (pair === 0) continue
    few.push(shown)
    many.push(further.shown)
  }
  const valuesPerReading = 1 + furtherCount / metrics.length
  const values = ratios(many, few).map(ratio => ratio * valuesPerReading)
  const name = `line protocol with ${furtherCount} further values, values a second, times without`
  bounds.atLeast(name, median(values), furtherMin, {
    ratios: spread(values),
    perSecond: spread(many),
    withoutPerSecond: spread(few),
  })
}

async function createPostedTable({ questdb }: BenchService['store']): Promise<void> {
  const connection = connectQuestdb(questdb.http, 600_000)
  await connection.query(readingsTableSql.replaceAll(readingsTable, postedTable))
  connection.close()
}

try {
  await bench()
} finally {
  await closeAll()
}
