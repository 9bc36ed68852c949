/**
 * Bulk bodies until they are acknowledged and visible in QuestDB, against the same readings as line protocol posted to
 * QuestDB's `/write`, with an equal table and as many connections, in turns. The order `scattered` also compares with
 * our rate in time order, and line protocol with five custom values per row with both tables in QuestDB. The service
 * knows the devices. The first pair, in which QuestDB discovers them, is printed separately. A quarter-size run
 * separates the cost of a reading from a run's, in processor time by thread.
 *
 * Usage: node bench/ingest.ts [--format line-protocol,csv,ndjson] [--devices 1000] [--rows 1600000] [--connections 4]
 * [--pairs 5] [--order time|scattered|fleet] [--days 60] [--seed 1] [--lines 10000] [--profile folder] [--peers]
 */

import { parseArgs } from 'node:util'
import { median } from 'simple-statistics'
import { connectQuestdb } from '../ingest/forwarder/questdb.ts'
import { measurementsTable, measurementsTableSql, readingsTable, readingsTableSql } from '../store/tables.ts'
import { startBench } from './bounds.ts'
import { addKeys, type BulkTarget, bodiesOf, bulkTargetOf, postAll } from './bulk-load.ts'
import { fileTimes, profileOptions } from './cpu-profiles.ts'
import { type FleetPlan, type Order, orders } from './fleet.ts'
import {
  type BulkFormat,
  bulkFormats,
  customCount,
  customLinesOf,
  linesOf,
  postedCustomLinesOf,
  postedCustomTable,
  postedTable,
} from './ingest-formats.ts'
import { ratios, round, sleep, spread } from './measure.ts'
import { measurePeers } from './peers.ts'
import { type BenchService, startBenchService } from './service.ts'
import { costsOf, minus, slopeOf, sumOf, type ThreadTimes, threadTimes } from './thread-times.ts'

const { values: options } = parseArgs({
  options: {
    format: { type: 'string', default: 'line-protocol,csv,ndjson' },
    devices: { type: 'string', default: '1000' },
    rows: { type: 'string', default: '1600000' },
    connections: { type: 'string', default: '4' },
    pairs: { type: 'string', default: '5' },
    order: { type: 'string', default: 'time' },
    days: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    lines: { type: 'string', default: '10000' },
    profile: { type: 'string' },
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
const partRows = Math.ceil(rows / 4)
const stepMs = 60_000
const dayMs = 86_400_000
const scatteredMin = 0.5
const customMin = 0.4
/** More devices would make so many series per body that it is refused until part of them exist. */
const customDevicesMax = 10_000
/** Garbage, and code that is compiled again and again, show there. */
const helpers = 'helpers of V8'
const helpersMax = 0.25

function known<Name extends string>(option: string, name: string, names: readonly Name[]): Name {
  const found = names.find(each => each === name)
  if (found === undefined) throw new Error(`--${option} takes ${names.join(', ')}`)
  return found
}

const { hooks, bounds, run } = startBench()

/** In time order, each run is later than the runs before. Otherwise all runs share the same days at different times. */
function createPlans() {
  const spanMs = Math.ceil(rows / devices) * stepMs
  const runs = (3 * formats.length + 2) * (pairs + 1) + formats.length
  let run = 0
  return (runOrder: Order, runRows = rows): FleetPlan => {
    const plan = { devices, rows: runRows, seed: Number(options.seed), order: runOrder }
    if (runOrder === 'scattered') {
      // Readings of another run have other milliseconds.
      const startMs = Math.floor(Date.now() / dayMs - Number(options.days) - 1) * dayMs + run++
      return { ...plan, startMs, endMs: startMs + Number(options.days) * dayMs }
    }
    const startMs = Math.floor(Date.now() / stepMs) * stepMs - (runs - run++ + 1) * spanMs
    return { ...plan, startMs, endMs: startMs + Math.ceil(runRows / devices) * stepMs }
  }
}

interface Rate {
  shown: number
  acknowledged: number
  rows: number
  /** Processor time of the service. */
  times: ThreadTimes
}

interface Meter {
  /** Posts the bodies, which have so many readings, and waits until all are shown. `custom`: values in each reading beside the five. */
  rate(target: BulkTarget, bodies: readonly Buffer[], more?: { rows?: number; custom?: number }): Promise<Rate>
  count(): Promise<number>
  isWhole(): Promise<boolean>
}

/** Posts to a table and waits until all of its rows, and the custom values, are visible. */
function createMeter({ store: { query }, service }: BenchService, table: string, customTable: string): Meter {
  const expected = { rows: 0, custom: 0 }
  const count = async (ofTable: string) => Number((await query(`SELECT count() FROM ${ofTable}`))[0]?.[0])
  return {
    async rate(target, bodies, { rows: sent = rows, custom = 0 } = {}) {
      expected.rows += sent
      expected.custom += custom * sent
      const pid = service.child.pid ?? 0
      const timesBefore = threadTimes(pid)
      const startedMs = performance.now()
      await postAll(target, bodies)
      const acknowledgedMs = performance.now()
      while ((await count(table)) < expected.rows) await sleep(20)
      while (custom > 0 && (await count(customTable)) < expected.custom) await sleep(20)
      const perSecond = (ms: number) => (sent / (ms - startedMs)) * 1000
      const shown = perSecond(performance.now())
      const times = minus(threadTimes(pid), timesBefore)
      return { shown, acknowledged: perSecond(acknowledgedMs), rows: sent, times }
    },
    count: () => count(table),
    isWhole: async () => (await count(table)) === expected.rows && (await count(customTable)) === expected.custom,
  }
}

async function bench(): Promise<void> {
  const benchService = await startBenchService(hooks, devices)
  const { store, service, port, environment } = benchService
  const keys = await addKeys(environment['DATABASE_URL'] ?? '', connections)
  await createPostedTables(store)
  const { http } = store.questdb
  const postedTo = { host: http.host, port: http.port, path: '/write', headers: { authorization: http.authorization } }
  const questdb: BulkTarget = { connections: Array.from({ length: connections }, () => postedTo), status: 204 }
  const ours = createMeter(benchService, readingsTable, measurementsTable)
  const posted = createMeter(benchService, postedTable, postedCustomTable)
  const nextPlan = createPlans()

  const targetOf = (format: BulkFormat) => bulkTargetOf(port, keys, format)
  const discovery: Record<string, object> = {}
  const processor: Record<string, object> = {}
  const parts = { ours, posted, questdb, targetOf, nextPlan, discovery, processor }
  for (const name of formats) await measure(name, parts)
  if (formats.includes('line-protocol') && devices <= customDevicesMax) {
    await measureCustom(targetOf(bulkFormats['line-protocol'] as BulkFormat), parts)
  }
  bounds.must('all that was acknowledged is stored, once', await ours.isWhole())
  const peers = options.peers
    ? await measurePeers(hooks, bodiesOf(nextPlan(order), linesPerBody, linesOf), { connections, runs: pairs, rows })
    : undefined
  const stored = await ours.count()
  await service.end('SIGTERM')
  bounds.conclude({
    bench: 'ingest',
    devices,
    rows,
    order,
    connections,
    pairs,
    stored,
    discovery,
    processor,
    profile: options.profile === undefined ? undefined : await profile(options.profile, nextPlan),
    peers,
  })
}

interface Parts {
  ours: Meter
  posted: Meter
  questdb: BulkTarget
  targetOf: (format: BulkFormat) => BulkTarget
  nextPlan: ReturnType<typeof createPlans>
  /** Discovery figures by format. */
  discovery: Record<string, object>
  processor: Record<string, object>
}

/** One format: ours, a part of it, and QuestDB alone, in turns. */
async function measure(
  name: string,
  { ours, posted, questdb, targetOf, nextPlan, discovery, processor }: Parts,
): Promise<void> {
  const format = bulkFormats[name] as BulkFormat
  const target = targetOf(format)
  const runs: Rate[] = []
  const inOrder: number[] = []
  const slopes: ReturnType<typeof slopeOf>[] = []
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
      discovery[name] = { perSecond: round(run.shown), questdbPerSecond: round(yardstick.shown) }
      continue
    }
    const part = nextPlan(order, partRows)
    const small = await ours.rate(target, bodiesOf(part, linesPerBody, format.body), { rows: partRows })
    slopes.push(slopeOf(small, run))
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
  processor[name] = costsOf(slopes)
  const shares = slopes.map(({ perRow }) => (perRow[helpers] ?? 0) / sumOf(perRow))
  bounds.atMost(`${name}, share of V8's helper threads in the processor time`, median(shares), helpersMax, {
    ratios: spread(shares),
  })
  if (order !== 'scattered') return
  const own = ratios(shown, inOrder)
  bounds.atLeast(`${name}, scattered, times in the order of time`, median(own), scatteredMin, {
    ratios: spread(own),
    inOrderPerSecond: spread(inOrder),
  })
}

/** Bodies of each format into a second service: a profiled service takes more processor time, which rates would show. */
async function profile(folder: string, nextPlan: Parts['nextPlan']): Promise<object> {
  const benchService = await startBenchService(hooks, devices, { NODE_OPTIONS: profileOptions(folder) })
  const { service, port, environment } = benchService
  const keys = await addKeys(environment['DATABASE_URL'] ?? '', connections)
  const meter = createMeter(benchService, readingsTable, measurementsTable)
  for (const name of formats) {
    const format = bulkFormats[name] as BulkFormat
    await meter.rate(bulkTargetOf(port, keys, format), bodiesOf(nextPlan(order), linesPerBody, format.body))
  }
  const stored = await meter.count()
  // The profiles are written when the process ends.
  await service.end('SIGTERM')
  return fileTimes(folder, stored)
}

/** Line protocol with custom values in each row, and QuestDB alone with the rows of both tables, in turns. */
async function measureCustom(target: BulkTarget, { ours, posted, questdb, nextPlan }: Parts): Promise<void> {
  const [runs, yardsticks]: [number[], number[]] = [[], []]
  const custom = { custom: customCount }
  // The first pair makes the metrics.
  for (let pair = 0; pair <= pairs; pair++) {
    const plan = nextPlan(order)
    const run = await ours.rate(target, bodiesOf(plan, linesPerBody, customLinesOf), custom)
    const yardstick = await posted.rate(questdb, bodiesOf(plan, linesPerBody, postedCustomLinesOf), custom)
    if (pair === 0) continue
    runs.push(run.shown)
    yardsticks.push(yardstick.shown)
  }
  const rates = ratios(runs, yardsticks)
  const name = `line protocol with ${customCount} custom values, readings a second, times QuestDB alone`
  bounds.atLeast(name, median(rates), customMin, {
    ratios: spread(rates),
    perSecond: spread(runs),
    questdbPerSecond: spread(yardsticks),
  })
}

async function createPostedTables({ questdb }: BenchService['store']): Promise<void> {
  const connection = connectQuestdb(questdb.http, 600_000)
  await connection.query(readingsTableSql.replaceAll(readingsTable, postedTable))
  await connection.query(measurementsTableSql.replaceAll(measurementsTable, postedCustomTable))
  connection.close()
}

await run(bench)
