/** The live state of the fleet in the whole service: it agrees with the statistics, and is the same after a restart and a crash. */

import t from 'tap'
import { Insights } from '../../query/shapes/insights.ts'
import { validated } from '../support/answer-shapes.ts'
import { createContractChecker } from '../support/contract.ts'
import { until } from '../support/processes.ts'
import { type Service, startService } from '../support/service.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

interface FleetDevice {
  device: string
  location_short: string
  state: string
  last_seen: number | null
  expected_interval_seconds: number | null
  values: Record<string, number>
  hours: string
}

interface Fleet {
  generated_at: number
  time_zone: string
  counts: Record<string, number>
  devices: FleetDevice[]
  next: string | null
  catching_up?: true
}

const first = await startService(t)
const { dataDirectory } = first

const get = async (service: Service, path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${service.url}/api${path}`, { headers })
  return { status: response.status, headers: response.headers, text: await response.text() }
}
// biome-ignore lint/suspicious/noExplicitAny: the shapes are compared as they are
const json = async (service: Service, path: string): Promise<any> => JSON.parse((await get(service, path)).text)
const fleetOf = async (service: Service): Promise<Fleet> => await json(service, '/fleet')
const isLoaded = async (service: Service) => {
  const { status, text } = await get(service, '/fleet')
  return status === 200 && !('catching_up' in JSON.parse(text))
}
const lagOf = async (service: Service) => await (await fetch(`${service.url}/metrics`)).text()
const isApplied = async (service: Service) => /^barograph_lag_readings 0$/m.test(await lagOf(service))

/** Name, interval, and how long ago the last reading is. */
const devices: [name: string, everyMs: number, agoMs: number][] = [
  ['Kitchen', minuteMs, 0],
  ['Attic', 5 * minuteMs, 0],
  ['Cellar', 7000, 0],
  ['Porch', hourMs, 10 * minuteMs],
  ['Shed', minuteMs, 3 * hourMs],
  ['Old', 10 * minuteMs, 20 * 24 * hourMs],
  ['Küche Nord', 2 * minuteMs, 200_000],
]
const passwords = new Map<string, string>()
for (const [name] of devices) passwords.set(name, await first.addDevice(name, { location_short: `${name} 1` }))
passwords.set('Ghost', await first.addDevice('Ghost'))
passwords.set('Off', await first.addDevice('Off', { log_switch: false }))
passwords.set('Set', await first.addDevice('Set', { expected_interval_seconds: 3600 }))

await until('the fleet is known', () => isLoaded(first))
const startMs = Math.floor(Date.now() / 1000) * 1000
const rows = devices.flatMap(([name, everyMs, agoMs]) => {
  const count = Math.min(2000, Math.floor((26 * hourMs) / everyMs))
  return Array.from({ length: count }, (_, index) => {
    const time = new Date(startMs - agoMs - (count - 1 - index) * everyMs).toISOString()
    // Battery comes with every tenth reading only.
    return `${name},${time},${20 + (index % 10)},50,1000,${index % 10 === 0 ? 3.7 : ''}`
  })
})
await first.import(`device,timestamp,temperature,humidity,pressure,battery_voltage\n${rows.join('\n')}\n`)
await first.put('Set', passwords.get('Set') as string, { device: 'Set', temperature: 1, humidity: 50, pressure: 1000 })

const states: Record<string, string> = {
  fresh: 'fresh',
  late: 'late',
  stale: 'silent',
  offline: 'silent',
  never: 'never',
}

/** State and interval of each device as its statistics have them. */
async function agrees(service: Service): Promise<string[]> {
  const wrong: string[] = []
  for (const { device, state, expected_interval_seconds: expected } of (await fleetOf(service)).devices) {
    if (device === 'Off') continue
    const { status: reason, freshness } = await json(service, `/stats_data/${encodeURIComponent(device)}`)
    if (freshness === undefined) {
      // A slow machine may not answer in time.
      wrong.push(`${device}: ${reason}`)
      continue
    }
    const other = freshness.expected_interval_seconds
    const isNear = expected === other || Math.abs((expected ?? 0) - other) < 0.001 * other
    if (!isNear || states[freshness.state] !== state) wrong.push(JSON.stringify([device, state, expected, freshness]))
  }
  return wrong
}

async function waitUntilAgreed(service: Service): Promise<void> {
  let wrong: string[] = []
  await until('fleet and statistics agree', async () => {
    wrong = await agrees(service)
    return wrong.length === 0
  })
  t.strictSame(wrong, [])
}

t.test('readings show at once, and agree with the statistics', async t => {
  await until('readings are applied', () => isApplied(first))
  await waitUntilAgreed(first)
  const fleet = await fleetOf(first)
  t.equal(fleet.devices.length, 10)
  t.equal(fleet.time_zone, 'UTC')
  t.equal(fleet.next, null)
  const of = (name: string) => fleet.devices.find(({ device }) => device === name)
  t.match(of('Ghost'), { state: 'never', last_seen: null, values: {}, hours: '-'.repeat(24) })
  t.match(of('Off'), { state: 'off', last_seen: null })
  t.match(of('Shed'), { state: 'silent', hours: /D{20}[BCD]AAA?$|D{20}[BCD]AA$/ })
  t.match(of('Old'), { state: 'silent', hours: 'A'.repeat(24), values: {} })
  t.match(of('Kitchen'), { last_seen: startMs, hours: 'D'.repeat(24), location_short: 'Kitchen 1' })
  t.match(of('Set'), { state: 'fresh', expected_interval_seconds: 3600, values: { temperature: 1 } })
  t.strictSame(Object.keys(of('Kitchen')?.values ?? {}), ['temperature', 'humidity', 'pressure', 'battery_voltage'])
  const members = ['generated_at', 'time_zone', 'counts', 'devices', 'next']
  t.strictSame(Object.keys(fleet), members, 'a fleet with the five metrics alone has no other member')
  // Both change with the time.
  await until('the metrics have the counts of the states', async () => {
    const { counts } = await fleetOf(first)
    const metrics = await lagOf(first)
    return Object.entries(counts).every(([state, count]) =>
      metrics.includes(`\nbarograph_device_states{state="${state}"} ${count}\n`),
    )
  })
})

t.test('answers are what the contract says', async t => {
  const { operation, fault } = createContractChecker(
    JSON.parse(await (await fetch(`${first.url}/openapi.json`)).text()),
  )
  const faultIn = async (path: string, published: string) => {
    const { status, headers, text } = await get(first, path)
    const { content } = operation('GET', `/api${published}`).responses[status] ?? {}
    return fault(content, headers.get('content-type')?.split(';')[0] ?? '', JSON.parse(text))
  }
  const [one] = (await fleetOf(first)).devices
  const { content } = operation('GET', '/api/fleet').responses['200'] ?? {}
  t.match(fault(content, 'application/json', { ...(await fleetOf(first)), devices: [{ ...one, hours: 'D' }] }), /hours/)
  for (const query of [
    '',
    '?limit=2',
    '?state=never,off',
    '?q=k%C3%9CCHE&order=name',
    '?tag=a:b',
    '?tag=a:b&tag=c:*',
    '?tag=a',
    '?limit=0',
    '?state=broken',
  ]) {
    t.equal(await faultIn(`/fleet${query}`, '/fleet'), undefined, query)
  }
  t.equal(await faultIn('/fleet/insights?day=1', '/fleet/insights'), undefined)
  for (const query of ['', '?device=Kitchen&device=K%C3%BCche%20Nord&device=Ghost', '?device=nobody', '?day=1']) {
    t.equal(await faultIn(`/fleet/trends${query}`, '/fleet/trends'), undefined, query)
  }
  for (const query of ['?key=site', '?key=site&tag=a:b', '', '?key=Site', '?key=site&tag=a', '?key=site&day=1']) {
    t.equal(await faultIn(`/fleet/groups${query}`, '/fleet/groups'), undefined, query)
  }
  for (const query of ['', '?box=-180,-90,180,90', '?state=late&q=k&tag=a:b', '?box=1,2,3', '?day=1']) {
    t.equal(await faultIn(`/fleet/map${query}`, '/fleet/map'), undefined, query)
  }
  for (const name of [...passwords.keys(), 'nobody']) {
    t.equal(await faultIn(`/latest/${encodeURIComponent(name)}`, '/latest/{device}'), undefined, name)
  }
})

t.test('devices with coordinates are on the map, as soon as they have them', async t => {
  const put = (name: string, latitude: number | null, longitude: number | null) =>
    first.admin('PATCH', `/devices/${name}`, { latitude, longitude })
  t.match(await json(first, '/fleet/map?_=1'), { extent: null, marks: [] })
  await put('Kitchen', 52.52, 13.405)
  await put('Attic', 52.5201, 13.4051)
  await put('Shed', -33.925, 18.425)
  const { marks, extent } = await json(first, '/fleet/map?_=2')
  t.strictSame(extent, { west: 13.405, south: -33.925, east: 18.425, north: 52.5201 })
  t.match(marks, [{ devices: { length: 2 } }, { devices: [{ device: 'Shed' }] }])
  const near = await json(first, '/fleet/map?box=13.4049,52.5199,13.4052,52.5202')
  t.equal(near.marks.length, 2, 'apart, where the map shows less')
  for (const box of [
    '1,2,3',
    '1,2,3,4,5',
    '10,0,5,5',
    '0,10,5,5',
    '-181,0,0,1',
    '0,0,1,91',
    'a,b,c,d',
    '1e1,2,3,4',
    ',,,',
  ]) {
    const refused = await get(first, `/fleet/map?box=${box}`)
    t.equal(refused.status, 400, box)
    t.match(JSON.parse(refused.text).status, /^box must be four numbers of degrees/)
  }
  for (const name of ['Kitchen', 'Attic', 'Shed']) await put(name, null, null)
  t.match(await json(first, '/fleet/map?_=3'), { extent: null, marks: [] })
})

t.test('devices with tags have them in their rows, and the fleet is filtered by them', async t => {
  const before = await fleetOf(first)
  t.notOk(before.devices.some(device => 'tags' in device))
  const tagsOf = (name: string, tags: string[]) => first.admin('PATCH', `/devices/${name}`, { tags })
  await tagsOf('Kitchen', ['site:berlin', 'room:1'])
  await tagsOf('Attic', ['site:berlin'])
  await tagsOf('Shed', ['site:bonn', 'room:2'])
  const named = async (query: string) =>
    (await json(first, `/fleet?order=name${query}`)).devices.map(({ device }: FleetDevice) => device)
  t.strictSame(await named('&tag=site:berlin'), ['Attic', 'Kitchen'])
  t.strictSame(await named('&tag=site:berlin&tag=room:1'), ['Kitchen'])
  t.strictSame(await named('&tag=room:*'), ['Kitchen', 'Shed'])
  t.strictSame(await named('&tag=room:*&q=SHED'), ['Shed'])
  t.strictSame(await named('&tag=room:*&tag=site:paris'), [])
  const page = await json(first, '/fleet?order=name&tag=site:berlin&limit=1')
  t.match(page, { devices: [{ device: 'Attic', tags: ['site:berlin'] }], next: 'Attic' })
  t.equal(
    Object.values(page.counts as Record<string, number>).reduce((a, b) => a + b),
    2,
  )
  t.strictSame(await named(`&tag=site:berlin&after=${page.next}`), ['Kitchen'])
  const groups = await json(first, '/fleet/groups?key=site&_=1')
  const sizeOf = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b)
  t.strictSame(
    groups.groups.map(({ tag, counts }: { tag: string; counts: Record<string, number> }) => [tag, sizeOf(counts)]),
    [
      ['site:berlin', 2],
      ['site:bonn', 1],
    ],
  )
  t.strictSame([groups.groups_total, sizeOf(groups.others), sizeOf(groups.untagged)], [2, 0, 7])
  t.match(await json(first, '/fleet/groups?key=room&tag=site:bonn'), { groups: [{ tag: 'room:2' }], groups_total: 1 })
  for (const [query, text] of [
    ['', 'key must be the key of tags: 1 to 32 of a-z, 0-9 and "_" that begin with a letter'],
    ['?key=site:berlin', 'key must be the key of tags: 1 to 32 of a-z, 0-9 and "_" that begin with a letter'],
    ['?key=site&state=late', /unknown parameter state/],
  ] as const) {
    const refused = await get(first, `/fleet/groups${query}`)
    t.equal(refused.status, 400, query)
    t.match(JSON.parse(refused.text).status, text)
  }
  const [kitchen] = (await json(first, '/fleet?q=kitchen')).devices
  t.strictSame(Object.keys(kitchen).slice(0, 4), ['device', 'location_short', 'tags', 'state'])
  t.strictSame(kitchen.tags, ['room:1', 'site:berlin'])
  t.strictSame((await json(first, '/device/Kitchen')).tags, ['room:1', 'site:berlin'])
  const untagged = await json(first, '/device/Cellar')
  t.strictSame(Object.keys(untagged), ['location_short', 'location_desc', 'log_switch', 'battery'])
  for (const query of ['tag=berlin', 'tag=', 'tag=*', `tag=${'a:b&tag='.repeat(16)}a:b`]) {
    const { status, text } = await get(first, `/fleet?${query}`)
    t.equal(status, 400, query)
    t.match(JSON.parse(text).status, /^tag must be a key, a colon and a value/, query)
  }
})

t.test('one device', async t => {
  const latest = await json(first, '/latest/Kitchen')
  t.match(latest, { device: 'Kitchen', location_short: 'Kitchen 1', last_seen: startMs })
  t.match(latest.values.humidity, { v: 50, ts: startMs, unit: '%' })
  t.strictSame(await json(first, '/latest/Ghost'), {
    device: 'Ghost',
    location_short: '',
    state: 'never',
    last_seen: null,
    values: {},
  })
  const unknown = await get(first, '/latest/nobody')
  t.equal(unknown.status, 404)
  t.strictSame(JSON.parse(unknown.text), { status: 'device unknown' })
  t.match(await json(first, '/latest/all/1'), { data: Array })
})

t.test('what has not changed is not sent again, and what is wrong is said', async t => {
  const { headers } = await get(first, '/fleet?state=never')
  t.equal(headers.get('cache-control'), 'public, max-age=1')
  // It has the counts of all states, of which one may change in this second.
  await until('it has not changed', async () => {
    const etag = (await get(first, '/fleet?state=never')).headers.get('etag') ?? ''
    await new Promise(resolve => setTimeout(resolve, 1100))
    return (await get(first, '/fleet?state=never', { 'if-none-match': etag })).status === 304
  })
  const gzipped = await get(first, '/fleet', { 'accept-encoding': 'gzip' })
  t.equal(gzipped.headers.get('content-encoding'), 'gzip')
  t.equal((JSON.parse(gzipped.text) as Fleet).devices.length, 10)
  for (const [query, text] of [
    ['stat=late', 'unknown parameter stat; did you mean state?'],
    ['limit=0', 'limit must be a whole number from 1 to 1000'],
    ['state=broken', 'state must be one of silent, late, never, fresh, off, or several with commas'],
    ['after=Kitchen', 'after must be what next was in the answer before'],
    ['q=', 'q must be a text of 1 to 128 characters'],
    ['limit=1&limit=2', 'limit must be a whole number from 1 to 1000'],
  ] as const) {
    const refused = await get(first, `/fleet?${query}`)
    t.equal(refused.status, 400, query)
    t.strictSame(JSON.parse(refused.text), { status: text })
  }
  t.equal((await get(first, '/fleet?_=1&state=never,off&limit=1')).status, 200)
  t.match((await json(first, '/fleet?q=k%C3%9CCHE')).devices, [{ device: 'Küche Nord' }])
  t.equal((await get(first, '/latest/Kitchen?days=1')).status, 400)
})

t.test('the last 24 hours of named devices, and their trends', async t => {
  const { until: end, devices } = await json(first, '/fleet/trends?device=Shed&device=Kitchen&device=Ghost')
  t.equal(end % hourMs, 0)
  const [shed, kitchen] = devices
  t.strictSame([shed.device, kitchen.device, devices.length], ['Shed', 'Kitchen', 2], 'those that have sent something')
  // Ten values again and again; the last hour may be the one in which the test has begun.
  t.equal(kitchen.metric, 'temperature')
  t.strictSame(kitchen.means.slice(0, 23), Array(23).fill(24.5))
  t.ok(Math.abs(kitchen.means[23] - 24.5) < 2.5, kitchen.means[23])
  t.ok(kitchen.trend !== null && Math.abs(kitchen.change) <= 5.5)
  t.match(shed, { change: null, trend: null }, 'its last value is three hours old')
  const { headers } = await get(first, '/fleet/trends?device=Shed')
  t.equal((await get(first, '/fleet/trends?device=Shed', { 'if-none-match': headers.get('etag') ?? '' })).status, 304)
  for (const [query, status, text] of [
    ['', 400, 'device must name a device, and may be given 100 times'],
    [`?${'device=Shed&'.repeat(101)}`, 400, 'device may be given 100 times'],
    ['?devices=Shed', 400, 'unknown parameter devices; did you mean device?'],
  ] as const) {
    const refused = await get(first, `/fleet/trends${query}`)
    t.strictSame([refused.status, JSON.parse(refused.text)], [status, { status: text }])
  }
  t.equal((await get(first, '/fleet/trends?device=nobody')).status, 404)
})

t.test('batteries that run out, and devices unlike the others', async t => {
  const names = Array.from({ length: 9 }, (_, index) => `Stable ${index}`)
  for (const name of [...names, 'Barn', 'Gone']) await first.addDevice(name)
  // One in each quarter of a day, of which the newest is just before this hour.
  const lines = Array.from({ length: 120 }, (_, index) => {
    const time = new Date(Math.floor(startMs / hourMs) * hourMs - minuteMs - index * 6 * hourMs).toISOString()
    const day = 29 - Math.floor(index / 4)
    const stable = names.map((name, at) => `${name},${time},${20 + at / 10},50,1000,,${80 + (day % 2)}`)
    // At 30.5 on the last day: 61 days at half a percent each.
    const ending = ['Barn', 'Gone'].map(name => `${name},${time},${index < 4 ? 31 : 20},50,1000,,${45 - day / 2}`)
    return [...stable, ...ending].join('\n')
  })
  await first.import(
    `device,timestamp,temperature,humidity,pressure,battery_voltage,battery_percentage\n${lines.join('\n')}\n`,
  )
  await first.admin('DELETE', '/devices/Gone')
  await until('readings are applied', () => isApplied(first))
  const { headers, text } = await get(first, '/fleet/insights')
  const { batteries, outliers, ...totals } = validated(Insights, JSON.parse(text))
  const barn = { device: 'Barn', metric: 'battery_percentage', days_left: 60.5, percent_per_day: -0.5 }
  t.match(batteries, [{ ...barn, low: 54.5, high: 66.5 }])
  t.match(outliers[0], { device: 'Barn', metric: 'temperature', value: 31 })
  t.match(totals, { batteries_total: 1, outliers_total: outliers.length })
  t.notOk(outliers.some(({ device }) => ['Gone', 'Off'].includes(device)))
  t.match(headers.get('cache-control'), /^public, max-age=(600|5\d\d)$/)
  const again = await get(first, '/fleet/insights', { 'if-none-match': headers.get('etag') ?? '' })
  t.equal(again.status, 304)
  const refused = await get(first, '/fleet/insights?days=3')
  t.strictSame([refused.status, JSON.parse(refused.text)], [400, { status: 'unknown parameter days' }])
})

t.test('late readings fill the hours that they belong to', async () => {
  const lateMs = Math.floor(startMs / hourMs) * hourMs - hourMs
  const late = Array.from({ length: 60 }, (_, index) => {
    return `Shed,${new Date(lateMs + index * minuteMs).toISOString()},1,1,1000`
  })
  // A newer one than those shows that they came late.
  await first.import(
    `device,timestamp,temperature,humidity,pressure\nShed,${new Date(startMs).toISOString()},2,2,1000\n`,
  )
  await first.import(`device,timestamp,temperature,humidity,pressure\n${late.join('\n')}\n`)
  await until('the hour is complete', async () => {
    const shed = (await fleetOf(first)).devices.find(({ device }) => device === 'Shed')
    const index = 23 - (Math.floor(Date.now() / hourMs) - 1 - lateMs / hourMs)
    return shed?.hours[index] === 'D' && shed.values['temperature'] === 2
  })
})

t.test('metrics beside the five are described in the pages that tell their values', async t => {
  const password = await first.addDevice('Greenhouse', { expected_interval_seconds: 3600 })
  const values = { temperature: 21, humidity: 50, pressure: 1000, co2: 640, wind_direction: 45 }
  await first.put('Greenhouse', password, { device: 'Greenhouse', ...values })
  await until('it is told', async () => 'metrics' in (await json(first, '/fleet?q=greenhouse')))
  const page = await get(first, '/fleet?q=greenhouse')
  const fleet = JSON.parse(page.text)
  t.strictSame(fleet.devices[0].values, values)
  t.strictSame(Object.entries(fleet.metrics), [
    ['co2', { title: 'CO₂', kind: 'gauge', unit: 'ppm', decimals: 0 }],
    ['wind_direction', { title: 'Wind direction', kind: 'direction', unit: '°', decimals: 0 }],
  ])
  t.strictSame(Object.keys(fleet).slice(-2), ['metrics', 'next'])
  t.notOk('metrics' in (await json(first, '/fleet?q=kitchen')))
  const { operation, fault } = createContractChecker(
    JSON.parse(await (await fetch(`${first.url}/openapi.json`)).text()),
  )
  const { content } = operation('GET', '/api/fleet').responses['200'] ?? {}
  t.equal(fault(content, 'application/json', fleet), undefined)
  t.match(fault(content, 'application/json', { ...fleet, metrics: { co2: { title: 'CO₂' } } }), /metrics/)
})

t.test('the same after a crash, and after a stop', async t => {
  await first.put('Set', passwords.get('Set') as string, {
    device: 'Set',
    temperature: 3,
    humidity: 50,
    pressure: 1000,
  })
  await until('readings are applied', () => isApplied(first))
  await waitUntilAgreed(first)
  const before = await fleetOf(first)
  await first.put('Attic', passwords.get('Attic') as string, {
    device: 'Attic',
    temperature: 33,
    humidity: 50,
    pressure: 1000,
  })
  await first.killAll()
  const second = await startService(t, { dataDirectory })
  await until('the fleet is known', () => isLoaded(second))
  await waitUntilAgreed(second)
  const after = await fleetOf(second)
  const attic = after.devices.find(({ device }) => device === 'Attic')
  t.equal(attic?.values['temperature'], 33, 'what was acknowledged just before the crash shows')
  const still = (fleet: Fleet) =>
    fleet.devices
      .filter(({ device }) => ['Kitchen', 'Cellar', 'Porch', 'Shed', 'Old', 'Ghost', 'Off'].includes(device))
      .map(({ device, last_seen, values, expected_interval_seconds }) => ({
        device,
        last_seen,
        values,
        expected_interval_seconds,
      }))
      .sort((a, b) => (a.device < b.device ? -1 : 1))
  t.strictSame(still(after), still(before))
  t.equal((await fleetOf(second)).counts['off'], before.counts['off'])
  await second.end('SIGTERM')
  const third = await startService(t, { dataDirectory })
  await until('the fleet is known', () => isLoaded(third))
  await waitUntilAgreed(third)
  t.strictSame(still(await fleetOf(third)), still(before))
  await third.admin('DELETE', '/devices/Old')
  t.equal((await get(third, '/latest/Old')).status, 404)
  t.strictSame((await json(third, '/fleet?q=old')).devices, [])
  await third.addDevice('Old')
  t.match(await json(third, '/latest/Old'), { state: 'never', values: {} })
})
