/** The registry of metrics by the admin API, and the metrics that a device lists. */

import t from 'tap'
import { rowsPerPage } from '../../auth/list-page.ts'
import { catalogue } from '../../metrics/catalogue.ts'
import { startAdmin } from '../support/admin.ts'

const { ask, app, people, store } = await startAdmin(t)
const problem = (status: number, title: string, more: object = {}) => ({ status, body: { status, title, ...more } })
const audit = async (subject: string) =>
  (await store.postgres.query('SELECT action FROM audit WHERE subject = $1 ORDER BY id', [subject])).rows.map(
    ({ action }) => action,
  )

t.test('the five are listed first, with the signs of their units', async t => {
  const { status, body } = await ask('GET', '/metrics')
  t.equal(status, 200)
  t.match(body, {
    metrics: [{ name: 'temperature', unit: 'Cel', unit_sign: '°C', decimals: 1, min: -90, max: 85, built_in: true }],
    total: 5,
    next: null,
  })
  t.strictSame((await ask('GET', '/metrics/temperature')).body, (body as { metrics: object[] }).metrics[0])
  t.match(await ask('GET', '/metrics/rain'), problem(404, 'metric unknown'))
})

t.test('a metric is added as the catalogue has it or as it is given, changed and removed', async t => {
  const added = await ask('POST', '/metrics', { name: 'co2' })
  t.match(added, { status: 201, body: { name: 'co2', title: 'CO₂', unit: 'ppm', kind: 'gauge', built_in: false } })
  t.equal(added.headers['location'], '/api/admin/metrics/co2')
  t.notOk(Object.keys(added.body as object).includes('id'))
  const own = {
    name: 'sap_flow',
    title: 'Sap',
    unit: 'l/h',
    kind: 'rate',
    decimals: 3,
    min: 0,
    max: 9,
    color: '#00aa11',
  }
  t.match(await ask('POST', '/metrics', own), {
    status: 201,
    body: { ...own, unit: 'L/h', unit_sign: 'L/h', quality: null },
  })
  const quality = { max: 8, spike: 1 }
  t.match(await ask('PATCH', '/metrics/sap_flow', { kind: 'counter', unit: null, quality }), {
    status: 200,
    body: { kind: 'counter', unit: null, unit_sign: null, quality, title: 'Sap' },
  })
  t.match(await ask('DELETE', '/metrics/sap_flow'), { status: 204, body: undefined })
  t.match(await ask('DELETE', '/metrics/sap_flow'), problem(404, 'metric unknown'))
  t.match(await ask('PATCH', '/metrics/sap_flow', { decimals: 1 }), problem(404, 'metric unknown'))
  t.strictSame(await audit('metric sap_flow'), ['metric.add', 'metric.change', 'metric.remove'])
})

t.test('what cannot be done is told with its field', async t => {
  const issue = (path: string, message: string | RegExp) => ({ errors: [{ path, message }] })
  t.match(await ask('POST', '/metrics', { name: 'co2' }), problem(409, 'name taken', issue('name', /is taken/)))
  t.match(await ask('POST', '/metrics', { name: 'co2_ppm' }), problem(409, 'name taken', issue('name', 'is co2')))
  for (const name of ['CO2', 'dew_point', 'catalogue', '', 'x'.repeat(49)])
    t.match(await ask('POST', '/metrics', { name }), problem(422, 'invalid body', issue('name', /./)), name)
  t.match(
    await ask('POST', '/metrics', { name: 'x', unit: 'furlong' }),
    problem(422, 'invalid body', issue('unit', /no unit/)),
  )
  t.match(await ask('POST', '/metrics', { name: 'x', units: 'm' }), problem(422, 'invalid body'))
  t.match(await ask('PATCH', '/metrics/co2', {}), problem(422, 'invalid body'))
  t.match(await ask('PATCH', '/metrics/co2', { name: 'b' }), problem(422, 'invalid body'))
  t.match(await ask('PATCH', '/metrics/co2', { max: -1 }), problem(422, 'range empty', issue('min', /less than max/)))
  t.match(await ask('PATCH', '/metrics/pressure', { unit: 'Pa', max: 2000 }), {
    ...problem(409, 'metric built in'),
    body: { errors: [{ path: 'unit' }, { path: 'max' }] },
  })
  t.match(await ask('PATCH', '/metrics/pressure', { title: 'Air pressure' }), { status: 200 })
  t.match(await ask('PATCH', '/metrics/pressure', { title: 'Pressure' }), { status: 200 })
  t.match(await ask('DELETE', '/metrics/humidity'), problem(409, 'metric built in'))
})

t.test('the list comes in pages behind a key, and is searched', async t => {
  for (let at = 0; at < rowsPerPage; at++) await ask('POST', '/metrics', { name: `page_${at}` })
  const first = (await ask('GET', '/metrics')).body as { metrics: { name: string }[]; next: number; total: number }
  t.equal(first.metrics.length, rowsPerPage)
  const second = (await ask('GET', `/metrics?after=${first.next}`)).body as typeof first
  t.equal(second.next, null)
  t.equal(new Set([...first.metrics, ...second.metrics].map(({ name }) => name)).size, first.total)
  t.match((await ask('GET', '/metrics?search=PAGE%2099')).body, { metrics: [{ name: 'page_99' }], total: 1 })
  for (const after of ['-1', 'x', '9007199254740992', '1'.repeat(17)])
    t.match(await ask('GET', `/metrics?after=${after}`), problem(400, 'invalid query'), after)
  t.match(await ask('GET', '/metrics?page=2'), problem(400, 'invalid query'))
})

t.test('the catalogue lists metrics and units', async t => {
  const { status, body } = await ask('GET', '/metrics/catalogue')
  t.equal(status, 200)
  const { metrics, units } = body as { metrics: { name: string }[]; units: { code: string }[] }
  t.equal(metrics.length, catalogue.length)
  t.match(
    metrics.find(({ name }) => name === 'pm25'),
    { unit_sign: 'µg/m³', kind: 'gauge' },
  )
  t.match(
    units.find(({ code }) => code === '[mi_i]/h'),
    { sign: 'mph', dimension: 'speed' },
  )
})

t.test('a device lists its metrics, which cannot be removed meanwhile', async t => {
  const metrics = ['co2', 'temperature']
  t.match(await ask('POST', '/devices', { name: 'lab', metrics }), { status: 201 })
  t.match((await ask('GET', '/devices/lab')).body, { metrics })
  t.match(await ask('POST', '/devices', { name: 'hall' }), { status: 201 })
  t.match((await ask('GET', '/devices/hall')).body, { metrics: null })
  t.match(await ask('PATCH', '/devices/hall', { metrics: ['co2', 'sap_flow', 'radon', 'snow'] }), {
    ...problem(422, 'metrics unknown'),
    body: {
      errors: [
        { path: 'metrics[1]', message: '"sap_flow" is no metric' },
        { path: 'metrics[3]', message: '"snow" is no metric; it is called snow_depth' },
      ],
    },
  })
  const several = [{ name: 'a' }, { name: 'b', metrics: ['radon', 'sap_flow'] }]
  t.match(await ask('POST', '/devices', several), {
    ...problem(422, 'metrics unknown'),
    body: { errors: [{ path: '[1].metrics[1]' }] },
  })
  t.match(await ask('GET', '/devices/a'), { status: 404 }, 'all or none')
  t.match(await ask('GET', '/metrics/radon'), { status: 404 }, 'nor a metric')
  for (const wrong of [[], ['co2', 'co2'], ['CO2'], Array.from({ length: 65 }, (_, at) => `page_${at}`), 'co2'])
    t.match(
      await ask('PATCH', '/devices/hall', { metrics: wrong }),
      problem(422, 'invalid body'),
      JSON.stringify(wrong),
    )
  const most = Array.from({ length: 64 }, (_, at) => `page_${at}`)
  t.match(await ask('PATCH', '/devices/hall', { metrics: most }), { status: 200, body: { metrics: most } })
  t.match(await ask('PATCH', '/devices/hall', { battery: true }), { body: { metrics: most } })
  t.match(await ask('DELETE', '/metrics/co2'), problem(409, 'metric in use'))
  t.match(await ask('PATCH', '/devices/lab', { metrics: null }), { status: 200, body: { metrics: null } })
  t.match(await ask('DELETE', '/metrics/co2'), { status: 204 })
  t.match(await ask('PATCH', '/devices/lab', { metrics: ['page_0', 'gone'] }), problem(422, 'metrics unknown'))
})

t.test('a device that lists what only the catalogue knows registers it', async t => {
  const metrics = ['soil_temperature', 'temperature', 'soil_moisture']
  t.match(await ask('POST', '/devices', { name: 'bed', metrics }), { status: 201 })
  t.match((await ask('GET', '/devices/bed')).body, { metrics })
  t.match(await ask('GET', '/metrics/soil_temperature'), { body: { unit: 'Cel', kind: 'gauge', max: 100 } })
  t.match(await ask('PATCH', '/devices/bed', { metrics: ['leaf_wetness'] }), { status: 200 })
  t.match(await ask('GET', '/metrics/leaf_wetness'), { body: { title: 'Leaf wetness' } })
  t.match(await ask('POST', '/devices', { name: 'bed', metrics: ['ph'] }), problem(409, 'name taken'))
  t.match(await ask('GET', '/metrics/ph'), { status: 404 }, 'nothing is left of what was refused')
  t.match(await ask('DELETE', '/metrics/leaf_wetness'), problem(409, 'metric in use'))
  t.match(await ask('DELETE', '/metrics/soil_moisture'), { status: 204 })
})

t.test('a metric that is removed while a device begins to list it is listed, or unknown', async t => {
  for (let round = 0; round < 20; round++) {
    await ask('POST', '/metrics', { name: 'contested' })
    const [removed, listed] = await Promise.all([
      ask('DELETE', '/metrics/contested'),
      ask('PATCH', '/devices/lab', { metrics: ['contested'] }),
    ])
    const outcome = [removed.status, listed.status].join()
    t.ok(['204,422', '409,200'].includes(outcome), outcome)
    await ask('PATCH', '/devices/lab', { metrics: null })
  }
})

t.test('who may change devices may change metrics, and nobody else', async t => {
  const bare = await app.inject({ method: 'GET', url: '/api/admin/metrics' })
  t.equal(bare.statusCode, 401)
  const user = await people.person('user@example.com')
  t.ok(user > 0)
  const sent = await app.inject({
    method: 'POST',
    url: '/api/admin/metrics',
    headers: { authorization: `Bearer ${'0'.repeat(64)}`, 'content-type': 'application/json' },
    payload: '{"name":"sneaked"}',
  })
  t.equal(sent.statusCode, 401)
  t.match(await ask('GET', '/metrics/sneaked'), { status: 404 })
})
