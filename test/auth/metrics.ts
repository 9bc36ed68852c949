/** The registry of metrics on a real PostgreSQL: changes, creation by a first reading, limits, and several processes. */

import t from 'tap'
import { openDevices } from '../../auth/devices/devices.ts'
import { createDeviceFields } from '../../auth/metrics/device-fields.ts'
import { metricPage } from '../../auth/metrics/metric-list.ts'
import { type Metrics, type MetricsOptions, openMetrics } from '../../auth/metrics/metrics.ts'
import { defaultRanges } from '../../ingest/reading.ts'
import {
  type MetricChange,
  metricsMax,
  metricsOfOwnersMax,
  metricsPerDeviceMax,
  NewMetric,
} from '../../store/metrics/metric.ts'
import { metrics as columns } from '../../store/tables.ts'
import { breakingPool } from '../support/breaking-pool.ts'
import { addDeviceTo } from '../support/changed.ts'
import { closing, nowhere, silentLog, startDatabases, type TestHooks } from '../support/databases.ts'

const { store } = await startDatabases(t, nowhere)
const pool = store.postgres
const devices = closing(t, await openDevices({ pool, now: Date.now, log: silentLog, graceMs: 1000 }))

/** Opens the registry like another process. */
async function open(t: TestHooks, options: Partial<MetricsOptions> = {}): Promise<Metrics> {
  return closing(t, await openMetrics({ pool, log: silentLog, mode: 'open', ...options }))
}

async function addDevice(name: string): Promise<number> {
  await addDeviceTo(devices, name)
  return devices.get(name)?.number ?? 0
}

const add = (metrics: Metrics, metric: object) => metrics.add(NewMetric.parse(metric), 'test')
const countOf = async (name: string) => (await pool.query('SELECT 1 FROM metrics WHERE name = $1', [name])).rowCount
const namesOf = (metrics: Metrics, device: number) => metrics.metricsOf(device).map(({ name }) => name)
const ensure = (metrics: Metrics, device: number, ...fields: string[]) =>
  metrics.ensure(
    fields.map(field => ({ device, field })),
    'test',
  )
async function auditOf(name: string): Promise<string[]> {
  const text = 'SELECT actor, action, details FROM audit WHERE subject = $1 ORDER BY id'
  const { rows } = await pool.query(text, [`metric ${name}`])
  return rows.map(({ actor, action, details }) => `${actor} ${action} ${JSON.stringify(details)}`)
}

t.test('the five built-in metrics exist first, with the ranges of the code or of the settings', async t => {
  const metrics = await open(t)
  t.strictSame(
    metrics.all().map(({ name, built_in }) => [name, built_in]),
    columns.map(name => [name, true]),
  )
  for (const { name, min, max } of metrics.all()) {
    const { min: least, max: most } = defaultRanges[name as keyof typeof defaultRanges]
    t.strictSame([min, max], [least, most], name)
  }
  t.match(metrics.get('pressure'), { unit: 'hPa', kind: 'gauge', decimals: 1, title: 'Pressure' })
  const configured = await open(t, { ranges: { pressure: { min: 500, max: 1200 } } })
  t.match(configured.get('pressure'), { min: 500, max: 1200 })
  t.match(configured.get('humidity'), { min: 0, max: 103 })
})

t.test('a metric is added, changed and removed, each with an audit entry, and survives a restart', async t => {
  const metrics = await open(t)
  const version = metrics.version()
  const change = (fields: MetricChange) => metrics.change('sap_flow', fields, 'test')
  const added = await add(metrics, { name: 'sap_flow', unit: 'l/h', min: 0 })
  const value = { name: 'sap_flow', title: 'Sap flow', unit: 'L/h', kind: 'gauge', position: 6 }
  t.match(added, { ok: true, value })
  t.ok(metrics.version() > version)
  t.strictSame(await add(metrics, { name: 'sap_flow' }), { ok: false, code: 'NAME_TAKEN' })
  const changes = { kind: 'counter' as const, unit: 'L', decimals: 0, quality: { max: 40, spike: null } }
  t.match(await change(changes), { ok: true, value: { ...changes, min: 0 } })
  t.match((await open(t)).get('sap_flow'), { ...changes, title: 'Sap flow' })
  t.strictSame(await change({ max: -1 }), { ok: false, code: 'RANGE_EMPTY' })
  const unset = { min: null, quality: null, unit: null }
  t.match(await change(unset), { value: unset })
  t.strictSame(await metrics.remove('sap_flow', 'test'), { ok: true, value: undefined })
  t.equal(metrics.get('sap_flow'), undefined)
  const unknown = { ok: false, code: 'METRIC_UNKNOWN' }
  t.strictSame(await metrics.remove('sap_flow', 'test'), unknown)
  t.strictSame(await change({ decimals: 1 }), unknown)
  const audit = await auditOf('sap_flow')
  const actions = audit.map(row => row.split(' ')[1])
  t.strictSame(actions, ['metric.add', 'metric.change', 'metric.change', 'metric.remove'])
  t.match(audit[1], /"was":\{"kind":"gauge","unit":"L\/h"\}/, 'what stored values meant before')
})

t.test('only title, color, decimals and position of a built-in metric can change', async t => {
  const metrics = await open(t)
  const refused = { ok: false, code: 'METRIC_BUILT_IN' }
  t.strictSame(await metrics.remove('pressure', 'test'), { ...refused, fields: [] })
  const change = { unit: 'Pa', kind: 'state', min: 0, max: 2000, title: 'Air pressure' } as const
  t.strictSame(await metrics.change('pressure', change, 'test'), { ...refused, fields: ['unit', 'kind', 'min', 'max'] })
  const same = { unit: 'hPa', min: 300, title: 'Air pressure', color: '#123456', decimals: 2, position: 9 } as const
  t.match(await metrics.change('pressure', same, 'test'), { ok: true, value: { title: 'Air pressure', max: 1100 } })
  t.equal(metrics.all().at(-1)?.name, 'pressure')
  const before = { title: 'Pressure', color: null, decimals: 1, position: 3 }
  t.match(await metrics.change('pressure', before, 'test'), { ok: true })
  const audit = await auditOf('pressure')
  t.equal((await metrics.change('pressure', before, 'test')).ok, true)
  t.strictSame(await auditOf('pressure'), audit, 'what changes nothing is not written')
})

t.test('names of the catalogue get its settings, and are found by their aliases and other spellings', async t => {
  const metrics = await open(t)
  const device = await addDevice('catalogue')
  t.equal(await ensure(metrics, device, 'co2_ppm', 'PM2.5'), 'done')
  const [co2, pm25] = [metrics.get('co2'), metrics.get('pm25')]
  t.match(co2, { title: 'CO₂', unit: 'ppm', kind: 'gauge', decimals: 0, min: 0, max: 100_000, built_in: false })
  t.match(pm25, { title: 'PM2.5', unit: 'ug/m3' })
  for (const field of ['co2', 'co2_ppm', 'CO2', 'CO2 ppm', 'carbonDioxide']) t.equal(metrics.find(field), co2, field)
  for (const field of ['pm2_5', 'pm25', 'PM2.5', 'PM2_5']) t.equal(metrics.find(field), pm25, field)
  t.match(metrics.find('temp'), { name: 'temperature', built_in: true })
  t.equal(metrics.find('created_at'), undefined)
  t.equal(metrics.find('constructor'), undefined)
  t.strictSame(metrics.metricsOf(device), [co2, pm25])
  t.strictSame(await add(metrics, { name: 'co2_ppm' }), { ok: false, code: 'NAME_TAKEN', aliasOf: 'co2' })
  t.match(await add(metrics, { name: 'wind_speed', unit: 'km/h' }), { value: { unit: 'km/h', min: null, max: null } })
  t.match(await add(metrics, { name: 'wind_gust', max: 90 }), { value: { unit: 'm/s', min: -1, max: 90 } })
  const taken = { ok: false, code: 'NAME_TAKEN', aliasOf: 'total_dissolved_solids' }
  t.strictSame(await add(metrics, { name: 'tds', max: -5, min: -9 }), taken)
  t.strictSame(await add(metrics, { name: 'uv_index', max: -5 }), { ok: false, code: 'RANGE_EMPTY' })
  t.match(await auditOf('co2'), ['test metric.add {"kind":"gauge","unit":"ppm"}'])
})

t.test('concurrent additions create a metric and a series once, also in two processes', async t => {
  const [one, two] = [await open(t), await open(t)]
  const [device, other] = [await addDevice('race 1'), await addDevice('race 2')]
  const sightings = [one, two].flatMap(metrics =>
    Array.from({ length: 20 }, (_, at) => ensure(metrics, at % 2 === 0 ? device : other, 'fresh')),
  )
  t.ok((await Promise.all(sightings)).every(outcome => outcome === 'done'))
  t.equal(await countOf('fresh'), 1)
  t.equal((await auditOf('fresh')).length, 1)
  const [metric, same] = [one.get('fresh'), two.get('fresh')]
  t.strictSame(metric, same)
  for (const number of [device, other]) {
    t.ok(metric !== undefined && one.series(number, metric) !== undefined)
    t.equal(metric && one.series(number, metric), same && two.series(number, same), 'one number in both')
  }
  const again = await open(t)
  t.strictSame(again.metricsOf(device), [metric], 'and after a restart')
  const added = await Promise.all([one, two].map(metrics => add(metrics, { name: 'fresh_2' })))
  t.strictSame(added.map(({ ok }) => ok).sort(), [false, true])
  t.strictSame(one.get('fresh_2'), two.get('fresh_2'), 'who comes second has it too')
})

t.test('a declared registry creates series of registered metrics, but no metrics', async t => {
  const metrics = await open(t, { mode: 'declared' })
  const device = await addDevice('declared')
  await ensure(metrics, device, 'never_heard_of', 'co2_ppm', 'temperature')
  t.equal(metrics.refusalOf({ device, field: 'temperature' }), undefined)
  t.equal(metrics.find('never_heard_of'), undefined)
  t.equal(metrics.refusalOf({ device, field: 'never_heard_of' }), 'UNDECLARED')
  t.equal(metrics.refusalOf({ device, field: '%' }), 'NAME_INVALID')
  t.strictSame(namesOf(metrics, device), ['co2'])
})

t.test('a device has at most 64 metrics', async t => {
  const metrics = await open(t)
  const device = await addDevice('many')
  const many = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name}_${at}`)
  await ensure(metrics, device, ...many('many', metricsPerDeviceMax + 6))
  t.equal(metrics.metricsOf(device).length, metricsPerDeviceMax)
  t.ok(metrics.get('many_63'))
  t.equal(metrics.get('many_64'), undefined)
  t.equal(metrics.refusalOf({ device, field: 'many_64' }), 'TOO_MANY_OF_DEVICE')
  t.equal(metrics.refusalOf({ device, field: 'many_63' }), undefined)
  await ensure(metrics, device, 'co2')
  t.equal(metrics.metricsOf(device).length, metricsPerDeviceMax, 'nor a series of one that is there')
  const second = await addDevice('many too')
  // The metrics exist already: adding one would wait for the other process.
  for (const name of [...many('left', 40), ...many('right', 40)]) await add(metrics, { name })
  const halves = [await open(t), await open(t)] as const
  await Promise.all(halves.map((half, at) => ensure(half, second, ...many(at === 0 ? 'left' : 'right', 40))))
  const { rowCount } = await pool.query('SELECT FROM metric_series WHERE device = $1', [second])
  t.equal(rowCount, metricsPerDeviceMax, 'nor by two processes at once')
})

const sent = (owner: number | null, device: number, ...fields: string[]) =>
  fields.map(field => ({ device, field, owner }))

t.test('devices of one account create a limited number of metrics, besides those of the catalogue', async t => {
  const metrics = await open(t, { perOwner: 2 })
  const [one, two, free] = [await addDevice('owned 1'), await addDevice('owned 2'), await addDevice('not owned')]
  const ada = 71
  await metrics.ensure([...sent(ada, one, 'ada_1', 'voc', 'ada_2', 'ada_3'), ...sent(ada, two, 'ada_4')], 'test')
  t.strictSame(namesOf(metrics, one), ['ada_1', 'tvoc', 'ada_2'])
  t.strictSame(namesOf(metrics, two), [])
  const refusalOf = (owner: number | null, device: number, field: string) => metrics.refusalOf({ device, field, owner })
  t.equal(refusalOf(ada, two, 'ada_4'), 'TOO_MANY_OF_OWNER')
  t.equal(refusalOf(ada, two, 'snow'), undefined, 'the catalogue has it')
  t.equal(refusalOf(72, two, 'ada_4'), undefined, 'another account has room')
  t.equal(refusalOf(null, free, 'ada_4'), undefined, 'a device without an owner is not bounded')
  await metrics.ensure([...sent(ada, two, 'ada_1'), ...sent(null, free, 'free_1', 'free_2', 'free_3')], 'test')
  t.strictSame(namesOf(metrics, two), ['ada_1'], 'what is there may be sent')
  t.strictSame(namesOf(metrics, free), ['free_1', 'free_2', 'free_3'])
  t.match(await add(metrics, { name: 'ada_5' }), { ok: true }, 'metrics of an administrator count for no account')
  const again = await open(t, { perOwner: 2 })
  t.equal(again.refusalOf({ device: two, field: 'ada_4', owner: ada }), 'TOO_MANY_OF_OWNER', 'after a restart, too')
  // Each of two processes has capacity in its memory.
  const eve = 73
  const [left, right] = [await open(t, { perOwner: 1 }), await open(t, { perOwner: 1 })]
  await Promise.all([left.ensure(sent(eve, one, 'eve_1'), 'test'), right.ensure(sent(eve, two, 'eve_2'), 'test')])
  t.equal(Number(await countOf('eve_1')) + Number(await countOf('eve_2')), 1)
  await pool.query('DELETE FROM metric_series WHERE device = ANY($1)', [[one, two]])
  const fresh = await open(t, { perOwner: 2 })
  t.match(await fresh.remove('ada_2', 'test'), { ok: true })
  t.equal(fresh.refusalOf({ device: two, field: 'ada_4', owner: ada }), undefined, 'a metric that is gone leaves room')
})

t.test('of two accounts that send a metric at once the first one with capacity creates it', async t => {
  const metrics = await open(t, { perOwner: 2 })
  const [one, two] = [await addDevice('first sender'), await addDevice('second sender')]
  const [ada, bob] = [81, 82]
  await Promise.all([
    metrics.ensure(sent(ada, one, 'first_a', 'both_a', 'both_b'), 'test'),
    metrics.ensure(sent(bob, two, 'both_a', 'first_b', 'both_b'), 'test'),
  ])
  const { rows } = await pool.query('SELECT name, owner FROM metrics WHERE owner = ANY($1) ORDER BY id', [[ada, bob]])
  const owned = rows.map(({ name, owner }) => `${name} ${owner}`)
  t.strictSame(owned, [`first_a ${ada}`, `both_a ${ada}`, `both_b ${bob}`, `first_b ${bob}`])
  t.strictSame(namesOf(metrics, one), ['first_a', 'both_a', 'both_b'])
  t.strictSame(new Set(namesOf(metrics, two)), new Set(['both_a', 'both_b', 'first_b']))
})

t.test('accounts together leave capacity for administrators', async t => {
  const before = (await open(t)).all().length
  await pool.query(
    `INSERT INTO metrics (name, title, kind, decimals, position, owner)
     SELECT 'owned_' || n, 'Owned', 'gauge', 0, 1000000, 1000 + n FROM generate_series(1, $1::int) AS n`,
    [metricsOfOwnersMax],
  )
  const metrics = await open(t, { perOwner: 10 })
  t.ok(before + metricsOfOwnersMax < metricsMax)
  const device = await addDevice('of many')
  const sighting = { device, field: 'one_more', owner: 5 }
  t.equal(metrics.refusalOf(sighting), 'TOO_MANY_OF_OWNER')
  await metrics.ensure([sighting], 'test')
  t.equal(metrics.get('one_more'), undefined)
  t.equal(metrics.refusalOf({ ...sighting, owner: null }), undefined)
  t.match(await add(metrics, { name: 'one_more' }), { ok: true })
  await pool.query("DELETE FROM metrics WHERE name LIKE 'owned\\_%' AND owner > 1000")
})

t.test('a field has its series and range, or is missing, or is stored without a metric', async t => {
  const metrics = await open(t)
  const fields = createDeviceFields(metrics)
  const device = { number: await addDevice('fields'), metrics: null, owner: null }
  await add(metrics, { name: 'unlimited' })
  const names = ['co2', 'CO2 ppm', 'temperature', 'Temperature', '%', 'dew_point', 'unlimited', 'seen_first']
  const missing = fields.missing(device, names)
  const missed = missing.map(({ field }) => field)
  t.strictSame(missed, ['co2', 'CO2 ppm', 'unlimited', 'seen_first'])
  t.equal(await metrics.ensure(missing, 'test'), 'done')
  t.strictSame(fields.missing(device, names), [])
  const co2 = fields.find(device, 'co2')
  t.match(co2, { min: 0, max: 100_000 })
  t.ok(co2?.series)
  t.strictSame(fields.find(device, 'CO2 ppm'), co2)
  t.match(fields.find(device, 'unlimited'), { min: -Infinity, max: Infinity })
  for (const name of ['temperature', 'Temperature', '%', 'dew_point']) t.equal(fields.find(device, name), undefined)
  const listing = { ...device, metrics: ['co2', 'temperature', 'noise'] }
  t.strictSame(fields.find(listing, 'CO2 ppm'), co2)
  t.equal(fields.find(listing, 'unlimited'), undefined, 'not in the list of its device')
  t.strictSame(fields.missing(listing, ['unlimited', 'other', 'co2']), [])
  await add(metrics, { name: 'noise' })
  const noise = { device: device.number, field: 'noise', owner: null }
  t.strictSame(fields.missing(listing, ['noise']), [noise])
  const declared = createDeviceFields(await open(t, { mode: 'declared' }))
  t.strictSame(declared.missing(device, ['noise', 'other']), [noise])
})

t.test('all pairs of device and series are returned', async t => {
  const metrics = await open(t)
  const device = await addDevice('pairs')
  await ensure(metrics, device, 'co2', 'temperature', 'pairs_1')
  const { rows } = await pool.query('SELECT device, number FROM metric_series ORDER BY number')
  const pairs = metrics.seriesPairs()
  const pairAt = (_: unknown, at: number) => ({ device: pairs[2 * at] ?? 0, number: pairs[2 * at + 1] ?? 0 })
  const inOrder = Array.from({ length: pairs.length / 2 }, pairAt).sort((a, b) => a.number - b.number)
  t.ok(rows.length > 2)
  t.strictSame(inOrder, rows)
})

t.test('each page of the list continues after the previous one', async t => {
  const metrics = await open(t)
  const addAt = (_: unknown, at: number) => add(metrics, { name: `paged_${at}`, position: 900 + (at % 7) })
  await Promise.all(Array.from({ length: 250 }, addAt))
  const names: string[] = []
  let after: number | undefined
  for (let pages = 0; ; pages++) {
    const page = metrics.list({ search: 'PAGED', after })
    names.push(...page.metrics.map(({ name }) => name))
    t.equal(page.total, 250 - Math.min(1, pages))
    if (pages === 0) await metrics.remove(names.at(-1) ?? '', 'test')
    if (page.next === null) break
    after = page.next
  }
  t.equal(names.length, 250)
  t.equal(new Set(names).size, 250)
  t.match(metrics.list({ search: 'paged_249' }), { metrics: { length: 1, 0: { name: 'paged_249' } } })
  t.match(metrics.list({ search: 'pressure' }).metrics, [{ unit_sign: 'hPa' }])
  t.strictSame(metrics.list({ search: '', after: Number.MAX_SAFE_INTEGER }).metrics, [])
  t.match(metricPage([], { search: '' }), { total: 0, next: null })
})

t.test('the outcome of a COMMIT without a response is read before the next change', async t => {
  let breaks: 'before' | 'after' | undefined
  const metrics = await open(t, { pool: breakingPool(() => breaks, pool) })
  const device = await addDevice('doubt')
  breaks = 'after'
  t.equal(await ensure(metrics, device, 'doubtful'), 'later')
  breaks = 'before'
  await t.rejects(add(metrics, { name: 'doubtful_2' }), /not confirmed/)
  t.equal(metrics.get('doubtful'), undefined)
  breaks = undefined
  t.equal(await metrics.reconcile(), true)
  const metric = metrics.get('doubtful')
  t.ok(metric !== undefined && metrics.series(device, metric) !== undefined, 'the COMMIT did arrive')
  breaks = 'before'
  t.equal(await ensure(metrics, device, 'not_made'), 'later')
  breaks = undefined
  t.equal(metrics.get('not_made'), undefined)
  t.equal(await ensure(metrics, device, 'not_made'), 'done')
  t.ok(metrics.get('not_made'))
})

t.test('a metric removed from a device returns under another number', async t => {
  let breaks: 'before' | 'after' | undefined
  const metrics = await open(t, { pool: breakingPool(() => breaks, pool) })
  const [device, other] = [await addDevice('given'), await addDevice('taken')]
  for (const one of [device, other]) t.equal(await ensure(metrics, one, 'sap', 'sap_2'), 'done')
  const numberOf = (of: number, name = 'sap') => metrics.series(of, metrics.get(name) ?? { id: 0 })
  const [first, kept, ofOther] = [numberOf(device), numberOf(device, 'sap_2'), numberOf(other)]
  const written: number[] = []
  const remove = (name: string) =>
    metrics.removeSeries(device, name, async (_, series) => {
      if (series !== undefined) written.push(series)
      return series
    })
  t.match(await remove('sap_3'), { ok: false, code: 'METRIC_UNKNOWN' })
  t.match(await remove('humidity'), { ok: false, code: 'METRIC_BUILT_IN' })
  breaks = 'before'
  await t.rejects(remove('sap'))
  t.equal(numberOf(device), first, 'nothing was done')
  breaks = 'after'
  await t.rejects(remove('sap'), /did not confirm/)
  breaks = undefined
  t.equal(await metrics.reconcile(), true)
  t.equal(numberOf(device), undefined, 'the COMMIT did arrive')
  t.equal(written.at(-1), first)
  t.match(await remove('sap'), { ok: false, code: 'METRIC_UNKNOWN' })
  t.equal(await ensure(metrics, device, 'sap'), 'done')
  t.ok((numberOf(device) ?? 0) > (ofOther ?? 0), 'a new one')
  t.strictSame([numberOf(device, 'sap_2'), numberOf(other)], [kept, ofOther])
  t.match(await remove('sap_2'), { ok: true })
  t.strictSame(namesOf(metrics, device), ['sap'])
  const again = await open(t)
  t.equal(again.series(device, again.get('sap') ?? { id: 0 }), numberOf(device))
  t.equal(again.series(device, again.get('sap_2') ?? { id: 0 }), undefined)
})

t.test('at most 10,000 metrics exist', async t => {
  const metrics = await open(t)
  const [device, other] = [await addDevice('last'), await addDevice('last too')]
  const missing = metricsMax - 1 - metrics.all().length
  await pool.query(
    `INSERT INTO metrics (name, title, kind, decimals, position) SELECT 'filler_' || n, 'Filler', 'gauge', 0, 1000000
     FROM generate_series(1, $1::int) AS n`,
    [missing],
  )
  const [one, two] = [await open(t), await open(t)]
  t.equal(one.all().length, metricsMax - 1)
  const outcomes = await Promise.all([add(one, { name: 'last_1' }), add(two, { name: 'last_2' })])
  const refused = [{ ok: false, code: 'REGISTRY_FULL' }]
  const isRefused = ({ ok }: { ok: boolean }) => !ok
  t.strictSame(outcomes.filter(isRefused), refused, 'one of two at once')
  // This registry has not loaded the fillers.
  t.strictSame([await add(metrics, { name: 'last_3' })], refused)
  await ensure(metrics, device, 'last_4')
  t.equal(metrics.find('last_4'), undefined)
  const full = await open(t)
  t.equal(full.refusalOf({ device, field: 'last_4' }), 'TOO_MANY_METRICS')
  await ensure(full, other, 'filler_1')
  t.equal(full.metricsOf(other).length, 1, 'those that are there are found')
})
