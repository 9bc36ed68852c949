import type pg from 'pg'
import t, { type Test } from 'tap'
import { bounds } from '../../../alerts/core/bounds.ts'
import type { Fact } from '../../../alerts/core/condition.ts'
import type { AlertDevice, AlertDevices } from '../../../alerts/core/devices.ts'
import { idlePair } from '../../../alerts/core/pair.ts'
import { NewRule, type Rule } from '../../../alerts/core/rule.ts'
import { EngineHost, type EngineHostOptions } from '../../../alerts/engine/engine-host.ts'
import { lastFullHourMs } from '../../../alerts/engine/periodic-feeds.ts'
import { forgetErased } from '../../../alerts/outbox/erased-devices.ts'
import { applyTransitions } from '../../../alerts/store/apply.ts'
import { readEngineRow, readPairs, writeEvaluatedUntil } from '../../../alerts/store/pairs.ts'
import { createAlertRules } from '../../../alerts/store/rules.ts'
import { qualityLimits } from '../../../analytics/quality/quality-limits.ts'
import { noFeed } from '../../../auth/nodes/change-feed.ts'
import type { AlertReadings, AskedReadings } from '../../../query/alerts/alert-queries.ts'
import { createAlertStore, everybody } from '../../support/alert-store.ts'
import { nowhere, silentLog, startDatabases } from '../../support/databases.ts'
import { waitFor } from '../../support/wait-for.ts'

const { store } = await startDatabases(t, nowhere)
const pool = store.postgres

interface Row {
  device: number
  timeMs: number
  temperature: number
}

const warm = { kind: 'above', metric: 'temperature', value: 30, hysteresis: 2 }

/** A registry with changeable devices, and owners whose read access can be revoked. */
function createRegistry() {
  /** Accounts without access even to their devices. */
  const blocked = new Set<number>()
  const registry = new Map<number, AlertDevice>()
  const listeners: Parameters<AlertDevices['onChange']>[0][] = []
  const devices: AlertDevices = {
    all: () => registry.values(),
    byNumber: number => registry.get(number),
    onChange: listener => void listeners.push(listener),
    mayRead: (owner, device) => owner === null || (device.owner === owner && !blocked.has(owner)),
    isAdministrator: owner => owner === null,
    seriesOf: (_, metric) => (metric === 'temperature' ? { column: 0 } : undefined),
    qualityOf: (_, metrics) => ({ expectedMs: null, limits: metrics.map(metric => qualityLimits(metric, null)) }),
  }
  return {
    devices,
    blocked,
    device(number: number, more: Partial<AlertDevice> = {}) {
      const names = { number, symbol: `s${number}`, name: `d${number}`, location_short: '' }
      const device = { ...names, tags: [], owner: null, log_switch: true, ...more }
      registry.set(number, device)
      for (const listener of listeners) listener(device, false)
    },
    remove(number: number) {
      const device = registry.get(number) as AlertDevice
      registry.delete(number)
      for (const listener of listeners) listener(device, true)
    },
  }
}

/** The parts shared by consecutive processes: PostgreSQL, the registry, and the stored readings. */
async function createWorld(t: Test) {
  // This empties the tables.
  const { addAccount } = await createAlertStore(pool)
  const registry = createRegistry()
  const stored: Row[] = []
  const facts: Fact[] = []
  const shared = { pool, feed: noFeed, nowMs: Date.now, waits: bounds, wake: () => undefined }
  const rules = createAlertRules({ ...shared, groupValueOf: () => '' })
  const addRule = async (condition: object, more: object = {}, owner = everybody): Promise<Rule> => {
    const rule = NewRule.parse({ name: `rule ${Math.random()}`, selector: { all: true }, condition, ...more })
    const outcome = await rules.add(owner, rule, 'test')
    if (!outcome.ok) throw new Error(outcome.code)
    return outcome.value
  }
  let isSettled = true
  const hosts: { host: EngineHost; lead: { isLeading: boolean } }[] = []
  t.teardown(() => Promise.all(hosts.map(({ host }) => host.close())))

  type Started = Partial<EngineHostOptions> & Partial<Pick<EngineHostOptions['store'], 'readPairs'>>
  function start({ readPairs, ...more }: Started = {}): EngineHost {
    const lead = { isLeading: true }
    const host = new EngineHost({
      log: silentLog,
      nowMs: Date.now,
      leads: () => lead.isLeading,
      isOut: () => false,
      isSettled: () => isSettled,
      markTaken: () => () => true,
      devices: registry.devices,
      live: liveOf(stored),
      readings: asked => readStored(stored, asked),
      facts: async () => facts,
      batteryDays: async devices => new Map(devices.map(({ number }) => [number, number])),
      unusualShifts: async devices => new Map(devices.map(({ number }) => [number, number])),
      factsEveryMs: 100,
      learnOwner: async owner => (registry.blocked.has(owner) ? 'none' : 'own'),
      readRules: rules.all,
      readVersions: rules.versions,
      disableRule: async rule => void (await rules.disable(rule, 'alerts')),
      store: { ...storeOf(shared, lead), ...(readPairs === undefined ? {} : { readPairs }) },
      ...more,
    })
    rules.onChange(() => host.rulesChanged())
    hosts.push({ host, lead })
    return host
  }

  return {
    ...registry,
    addAccount,
    rules,
    facts,
    stored,
    start,
    addRule,
    alerts: () => alertsIn(pool),
    /** Waits until the alerts, in the order of their beginning, equal `rows`. */
    becomes: (what: string, rows: string[]) =>
      waitFor(`${what}: ${rows.join()}`, async () => (await alertsIn(pool)).join() === rows.join()),
    settle: (is: boolean) => {
      isSettled = is
    },
    /** Ends a process without writes, like a killed one or a former leader. */
    async end(host: EngineHost) {
      for (const each of hosts) if (each.host === host) each.lead.isLeading = false
      await host.close()
    },
    /** Stores a reading and reports it to the running processes, unless it is missed. */
    take(device: number, timeMs: number, temperature: number, isReported = true) {
      stored.push({ device, timeMs, temperature })
      if (!isReported) return
      for (const { host } of hosts) host.take(readingOf({ device, timeMs, temperature }), Date.now())
    },
  }
}

async function alertsIn(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ device: number; state: string; reason: string | null }>(
    'SELECT device, state, resolved_reason AS reason FROM alerts ORDER BY id',
  )
  return rows.map(({ device, state, reason }) => `${device} ${state} ${reason ?? ''}`.trim())
}

async function* readStored(
  stored: readonly Row[],
  { devices: asked, columns, fromUs, toUs }: AskedReadings,
): AsyncGenerator<AlertReadings> {
  const numbers = new Set(asked.map(({ number }) => number))
  const rows = stored
    .filter(({ device, timeMs }) => numbers.has(device) && timeMs * 1000 >= fromUs && timeMs * 1000 < toUs)
    .toSorted((a, b) => a.timeMs - b.timeMs)
  yield {
    device: Int32Array.from(rows, ({ device }) => device),
    timesUs: Float64Array.from(rows, ({ timeMs }) => timeMs * 1000),
    values: columns.map(name =>
      Float64Array.from(rows, ({ temperature }) => (name === 'temperature' ? temperature : Number.NaN)),
    ),
    length: rows.length,
  }
}

function storeOf(
  shared: Pick<Parameters<typeof applyTransitions>[1], 'feed' | 'waits'> & { pool: pg.Pool },
  lead: { isLeading: boolean },
): EngineHostOptions['store'] {
  const { pool } = shared
  const requireLead = async () => {
    if (!lead.isLeading) throw new Error('another one leads')
  }
  return {
    readRow: () => readEngineRow(pool),
    readPairs: () => readPairs(pool),
    async apply({ evaluatedUntilMs, ...batch }) {
      const until = evaluatedUntilMs === undefined ? {} : { evaluatedUntilMs }
      const given = { ...shared, ...batch, ...until, nowMs: Date.now(), requireLead, groupValueOf: () => '' }
      return await applyTransitions(pool, given)
    },
    writeEvaluatedUntil: evaluatedUntilMs => writeEvaluatedUntil(pool, { evaluatedUntilMs, requireLead }),
  }
}

/** The live state of a device, from its last reading. */
function liveOf(stored: readonly Row[]): EngineHostOptions['live'] {
  const lastOf = (number: number) => {
    const rows = stored.filter(({ device }) => device === number)
    return rows.toSorted((a, b) => a.timeMs - b.timeMs).at(-1)
  }
  return {
    latest(number) {
      const last = lastOf(number)
      if (last === undefined) return undefined
      const values = { temperature: { v: last.temperature, ts: last.timeMs, unit: '°C' } }
      return { device: '', location_short: '', state: 'fresh', last_seen: last.timeMs, values }
    },
    hourShareOf: () => Number.NaN,
    silenceOf(number) {
      const lastMs = lastOf(number)?.timeMs ?? Number.NaN
      return { lastMs, lateSeconds: 600, freshSeconds: 120, staleSeconds: 86_400, expectedMs: 60_000, isOff: false }
    },
  }
}

function readingOf({ device, timeMs, temperature }: Row) {
  let left = 1
  const noCustom = { customCount: 0, customSeries: () => 0, customValue: () => 0 }
  const value = (column: number) => (column === 0 ? temperature : Number.NaN)
  return { next: () => left-- > 0, series: device, timeUs: timeMs * 1000, value, ...noCustom }
}

t.test('only the rule whose evaluation throws is disabled', async t => {
  const world = await createWorld(t)
  world.device(1)
  world.device(2)
  await world.addRule(warm, { selector: { devices: ['d1'] } })
  const broken = await world.addRule(warm, { selector: { devices: ['d2'] } })
  const state = { ...idlePair, changesMs: null as never }
  const readPairs = async function* () {
    yield [{ rule: broken.id, device: 2, state }]
  }
  const host = world.start({ readPairs })
  await waitFor('it is live', () => host.state().isLive)
  world.take(2, Date.now(), 40)
  await waitFor('it is disabled', async () => (await world.rules.get(everybody, broken.id))?.enabled === false)
  await waitFor('it is live again', () => host.state().isLive)
  world.take(1, Date.now(), 40)
  await world.becomes('the other rule fires', ['1 firing'])
  t.match((await pool.query('SELECT actor, action, details FROM audit ORDER BY id DESC LIMIT 1')).rows, [
    { actor: 'alerts', action: 'alert-rule.change', details: { enabled: false } },
  ])
})

t.test('readings become rows of alerts, over restarts, and at another process', async t => {
  const world = await createWorld(t)
  const { becomes } = world
  world.device(1)
  world.device(2)
  let host = world.start()
  await world.addRule(warm)
  await waitFor('it is evaluated', () => host.state().isLive)
  world.take(1, Date.now(), 35)
  await becomes('a reading beyond the threshold', ['1 firing'])
  t.equal(host.state().pairs, 2)

  await world.end(host)
  world.take(1, Date.now(), 20)
  world.take(2, Date.now(), 35)
  host = world.start()
  await becomes('what came while nothing ran', ['1 resolved cleared', '2 firing'])

  await host.close()
  const { evaluatedUntilMs } = await readEngineRow(pool)
  t.ok((evaluatedUntilMs ?? 0) > Date.now() - 60_000, 'a clean stop says up to when it has evaluated')
  world.settle(false)
  host = world.start()
  world.take(2, Date.now(), 20)
  t.strictSame(await world.alerts(), ['1 resolved cleared', '2 firing'], 'QuestDB does not answer yet')
  world.settle(true)
  await becomes('readings of meanwhile', ['1 resolved cleared', '2 resolved cleared'])

  world.take(1, Date.now(), 35, false)
  host.missed()
  await becomes('readings that were not reported', ['1 resolved cleared', '2 resolved cleared', '1 firing'])

  const next = world.start()
  await world.end(host)
  world.take(1, Date.now(), 20)
  await becomes('another process goes on', ['1 resolved cleared', '2 resolved cleared', '1 resolved cleared'])
  await next.close()
  t.equal(next.state().backlog, 0)
})

t.test('rules and devices are added, changed and removed', async t => {
  const world = await createWorld(t)
  const { becomes } = world
  world.device(1)
  world.device(2, { owner: 7 })
  world.take(1, Date.now() - 3_600_000, 35)
  const host = world.start()
  const rule = await world.addRule(warm)
  await becomes('a device that is beyond already', ['1 firing'])
  t.strictSame(host.coverageOf(rule.id), { covered: 2, isWhole: true })

  world.device(3)
  await waitFor('the new device is covered', () => host.coverageOf(rule.id)?.covered === 3)
  world.take(3, Date.now(), 35)
  await becomes('a new device', ['1 firing', '3 firing'])
  world.remove(3)
  await becomes('a device that is removed', ['1 firing', '3 resolved device_removed'])
  world.device(1, { log_switch: false })
  await becomes('a device that does not log', ['1 resolved device_off', '3 resolved device_removed'])

  world.device(1)
  const ended = ['1 resolved device_off', '3 resolved device_removed']
  await becomes('it logs again, and is beyond as before', [...ended, '1 firing'])
  t.match(await world.rules.change(everybody, rule.id, { selector: { devices: ['d2'] } }, 'test'), { ok: true })
  await becomes('it is not selected', [...ended, '1 resolved not_selected'])
  await world.rules.remove(everybody, rule.id, 'test')
  await waitFor('nothing is evaluated', () => !host.state().isLive)
  t.equal(host.state().pairs, 0)
})

t.test('an alert with erased values ends without the old value, after earlier transitions', async t => {
  const world = await createWorld(t)
  world.device(1)
  world.device(2)
  const host = world.start()
  await world.addRule(warm)
  await waitFor('it is evaluated', () => host.state().isLive)
  world.take(1, Date.now(), 35)
  world.take(2, Date.now(), 36)
  const options = { pool: pool, nowMs: Date.now, feed: noFeed }
  let committed: string[] = []
  await host.eraseValues([1], 'temperature', async () => {
    committed = await world.alerts()
    await forgetErased(options, { numbers: [1], name: 'd1', metric: 'temperature', untilMs: Date.now() })
  })
  t.strictSame(committed, ['1 firing', '2 firing'])
  for (const number of [1, 2]) world.device(number, { log_switch: false })
  await waitFor('both end', async () => (await world.alerts()).every(row => row.endsWith('device_off')))
  const { rows } = await pool.query(`
    SELECT device, value, (SELECT count(*)::int FROM alert_events WHERE alert_id = alerts.id AND details ? 'value') AS events
    FROM alerts ORDER BY device`)
  t.strictSame(rows, [
    { device: 1, value: null, events: 0 },
    { device: 2, value: 36, events: 2 },
  ])
})

t.test('a rule covers the devices that its owner may read at present', async t => {
  const world = await createWorld(t)
  const account = await world.addAccount()
  world.device(1, { owner: account })
  world.device(2)
  world.take(1, Date.now() - 3_600_000, 35)
  world.take(2, Date.now() - 3_600_000, 35)
  const host = world.start()
  const rule = await world.addRule(warm, {}, { all: false, account })
  await world.becomes('it fires', ['1 firing'])
  t.equal(host.coverageOf(rule.id)?.covered, 1)
  world.blocked.add(account)
  await world.becomes('it ends', ['1 resolved not_selected'])
  t.equal(host.coverageOf(rule.id)?.covered, 0)
})

t.test('rules on the service and on batteries get periodic observations', async t => {
  const world = await createWorld(t)
  for (const number of [3, 30]) world.device(number)
  world.facts.push({ fact: 'dead_letters', value: 2, text: '' }, { fact: 'disk_full', value: 9, text: '' })
  const host = world.start()
  await world.addRule({ kind: 'battery', days: 14 })
  await world.becomes('a battery is about to be empty', ['3 firing'])
  await world.addRule({ kind: 'service', fact: 'dead_letters' }, { selector: null })
  await world.addRule({ kind: 'service', fact: 'disk_full' }, { selector: null })
  await world.becomes('there are dead letters', ['3 firing', '0 firing'])
  world.facts.splice(0, 2, { fact: 'dead_letters', value: 0, text: '' }, { fact: 'disk_full', value: 6, text: '' })
  await world.becomes('they are gone, and the disk gets full', ['3 firing', '0 resolved cleared', '0 firing'])
  t.ok(host.state().isLive)
})

t.test('while QuestDB is unavailable from the start, rules on the service fire and others wait', async t => {
  const world = await createWorld(t)
  world.device(3)
  world.settle(false)
  world.facts.push({ fact: 'questdb_away', value: 70, text: 'it is not reachable' })
  const host = world.start()
  await world.addRule({ kind: 'battery', days: 14 })
  await world.addRule({ kind: 'service', fact: 'questdb_away' }, { selector: null })
  await world.becomes('the alert is stored', ['0 firing'])
  t.notOk(host.state().isLive)
  world.settle(true)
  world.facts.splice(0, 1, { fact: 'questdb_away', value: 0, text: '' })
  await world.becomes('it is back, and all is evaluated', ['0 resolved cleared', '3 firing'])
})

t.test('suspect readings of the last full hour are found once, also after a restart', async t => {
  const world = await createWorld(t)
  const [minuteMs, hourMs] = [60_000, 3_600_000]
  const endMs = lastFullHourMs(Date.now()) + hourMs
  for (const number of [1, 2]) world.device(number)
  // Includes the current hour, which may end meanwhile.
  for (let minute = 24 * 60; minute > -60; minute--) {
    const usual = 20 + (Math.abs(minute) % 10) / 5
    world.take(1, endMs - minute * minuteMs, minute > 240 ? usual : 20.3, false)
    world.take(2, endMs - minute * minuteMs, usual, false)
  }
  const host = world.start()
  const rule = await world.addRule({ kind: 'suspect', share: 0.2 })
  await world.becomes('it stands still', ['1 firing'])
  await world.end(host)

  let isAway = true
  const readings: EngineHostOptions['readings'] = async function* (asked) {
    if (asked.fromUs < endMs * 1000 && isAway) {
      isAway = false
      throw new Error('QuestDB is away')
    }
    yield* readStored(world.stored, asked)
  }
  const next = world.start({ readings, suspectsRetryMs: 100 })
  await waitFor('it has been away', () => !isAway)
  const change = (more: object = {}) =>
    world.rules.change(everybody, rule.id, { condition: { kind: 'suspect', share: 0.2, ...more } }, 'test')
  await change({ metric: 'humidity' })
  await world.becomes('another metric', ['1 resolved rule_changed'])
  await change()
  await world.becomes('the change is stored at once', ['1 resolved rule_changed', '1 firing'])
  t.ok(next.state().isLive)
})
