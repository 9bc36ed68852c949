/** The live state of devices in a whole service: it agrees with their statistics, and with the contract. */

import t from 'tap'
import type { Fleet, FleetGroups } from '../../query/live/fleet-shape.ts'
import { Insights } from '../../query/shapes/insights.ts'
import { validated } from '../support/answer-shapes.ts'
import { heldText } from '../support/held-answers.ts'
import { sharedService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** All devices of this file have the tag, so that lists have no others. */
const own = 'suite:fleet'
const ours = `tag=${own}`

const service = await sharedService(t)
const named = (name: string) => `fleet-${name}`

const get = async (path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${service.url}/api${path}`, { headers })
  return { status: response.status, headers: response.headers, text: await heldText('GET', response) }
}
// biome-ignore lint/suspicious/noExplicitAny: the shapes are compared as they are
const json = async (path: string): Promise<any> => JSON.parse((await get(path)).text)
const fleetOf = async (query = ''): Promise<Fleet> => await json(`/fleet?${ours}${query}`)
const namesOf = async (query: string) => (await fleetOf(query)).devices.map(({ device }) => device.slice(6))
const sum = (counts: object) => Object.values(counts).reduce((a, b) => a + b, 0)

async function refused(path: string, status: number, text: string | RegExp): Promise<void> {
  const answer = await get(path)
  t.match([answer.status, JSON.parse(answer.text)], [status, { status: text }], path)
}

/** Name, interval, and how long ago the last reading is. */
const devices: [name: string, everyMs: number, agoMs: number][] = [
  ['Kitchen', minuteMs, 0],
  ['Attic', 5 * minuteMs, 0],
  ['Porch', hourMs, 10 * minuteMs],
  ['Shed', minuteMs, 3 * hourMs],
  ['Old', 10 * minuteMs, 20 * 24 * hourMs],
  ['Küche Nord', 2 * minuteMs, 200_000],
]
for (const [name] of devices) await service.addDevice(named(name), { location_short: `${name} 1`, tags: [own] })
await service.addDevice(named('Ghost'), { tags: [own] })
await service.addDevice(named('Off'), { log_switch: false, tags: [own] })
const password = await service.addDevice(named('Set'), { expected_interval_seconds: 3600, tags: [own] })
const startMs = Math.floor(Date.now() / 1000) * 1000
const header = 'device,timestamp,temperature,humidity,pressure,battery_voltage\n'
const rows = devices.flatMap(([name, everyMs, agoMs]) => {
  const count = Math.floor((26 * hourMs) / everyMs)
  return Array.from({ length: count }, (_, index) => {
    const time = new Date(startMs - agoMs - (count - 1 - index) * everyMs).toISOString()
    // Battery comes with every tenth reading only.
    return `${named(name)},${time},${20 + (index % 10)},50,1000,${index % 10 === 0 ? 3.7 : ''}`
  })
})
await waitFor('the fleet is known', async () => (await get('/fleet')).status === 200)
await service.import(`${header}${rows.join('\n')}\n`)
await service.put(named('Set'), password, { device: named('Set'), temperature: 1, co2: 640, wind_direction: 45 })
// Statistics of a part of them would be kept for a minute.
await service.allShown()

t.test('readings show at once and agree with the statistics', async t => {
  const states: Record<string, string> = { stale: 'silent', offline: 'silent' }
  const differing = async () => {
    const wrong: string[] = []
    for (const { device, state, expected_interval_seconds: expected } of (await fleetOf()).devices) {
      if (state === 'off') continue
      const { freshness } = await json(`/stats_data/${encodeURIComponent(device)}`)
      const other = freshness?.expected_interval_seconds
      const isNear = expected === other || Math.abs((expected ?? 0) - other) < 0.001 * other
      if (!isNear || (states[freshness.state] ?? freshness.state) !== state) wrong.push(device)
    }
    return wrong
  }
  await waitFor('fleet and statistics agree', async () => (await differing()).length === 0)
  const fleet = await fleetOf()
  t.strictSame([fleet.devices.length, sum(fleet.counts), fleet.next], [9, 9, null])
  const of = (name: string) => fleet.devices.find(({ device }) => device === named(name))
  t.match(of('Ghost'), { state: 'never', last_seen: null, values: {}, hours: '-'.repeat(24) })
  t.match(of('Off'), { state: 'off', last_seen: null })
  t.match(of('Shed'), { state: 'silent', hours: /D{20}[BCD]AAA?$|D{20}[BCD]AA$/ })
  t.match(of('Old'), { state: 'silent', hours: 'A'.repeat(24), values: {} })
  t.match(of('Kitchen'), { last_seen: startMs, hours: 'D'.repeat(24), location_short: 'Kitchen 1' })
  t.strictSame(of('Set')?.values, { temperature: 1, co2: 640, wind_direction: 45 })
  t.match(of('Set'), { state: 'fresh', expected_interval_seconds: 3600 })
  t.strictSame(Object.keys(of('Kitchen')?.values ?? {}), ['temperature', 'humidity', 'pressure', 'battery_voltage'])
  const { metrics } = await json(`/fleet?${ours}&q=fleet-set`)
  t.strictSame(metrics, {
    co2: { title: 'CO₂', kind: 'gauge', unit: 'ppm', decimals: 0 },
    wind_direction: { title: 'Wind direction', kind: 'direction', unit: '°', decimals: 0 },
  })
  t.notOk('metrics' in (await json(`/fleet?${ours}&q=fleet-kitchen`)), 'the five are not described')
  t.match(await json(`/latest/${named('Kitchen')}`), {
    device: named('Kitchen'),
    last_seen: startMs,
    values: { humidity: { v: 50, ts: startMs, unit: '%' } },
  })
  t.match(await json(`/latest/${named('Ghost')}`), { state: 'never', last_seen: null, values: {} })
  await refused('/latest/fleet-nobody', 404, 'device unknown')
})

t.test('the metrics of the service count the states of all devices', async () => {
  // Both change with the time.
  await waitFor('the metrics have the counts of the states', async () => {
    const { counts } = (await json('/fleet')) as Fleet
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    return Object.entries(counts).every(([state, count]) =>
      metrics.includes(`\nbarograph_device_states{state="${state}"} ${count}\n`),
    )
  })
})

t.test('the fleet is searched, sorted, paged, and filtered by tags and places', async t => {
  const change = (name: string, more: object) => service.admin('PATCH', `/devices/${named(name)}`, more)
  t.match(await json(`/fleet/map?${ours}`), { extent: null, marks: [] })
  await change('Kitchen', { tags: [own, 'site:berlin', 'room:1'], latitude: 52.52, longitude: 13.405 })
  await change('Attic', { tags: [own, 'site:berlin'], latitude: 52.5201, longitude: 13.4051 })
  await change('Shed', { tags: [own, 'site:bonn', 'room:2'], latitude: -33.925, longitude: 18.425 })
  t.strictSame(await namesOf('&order=name&tag=site:berlin'), ['Attic', 'Kitchen'])
  t.strictSame(await namesOf('&tag=site:berlin&tag=room:1'), ['Kitchen'])
  t.strictSame(await namesOf('&order=name&tag=room:*'), ['Kitchen', 'Shed'])
  t.strictSame(await namesOf('&q=k%C3%9CCHE'), ['Küche Nord'])
  const { next } = await fleetOf('&order=name&limit=1')
  t.equal(next, named('Attic'))
  t.strictSame(await namesOf(`&order=name&limit=1&after=${next}`), ['Ghost'])
  const groups = await json(`/fleet/groups?key=site&${ours}&_=1`)
  t.strictSame(
    groups.groups.map(({ tag, counts }: FleetGroups['groups'][number]) => `${tag} ${sum(counts)}`),
    ['site:berlin 2', 'site:bonn 1'],
  )
  t.strictSame([groups.groups_total, sum(groups.others), sum(groups.untagged)], [2, 0, 6])
  t.strictSame((await json(`/device/${named('Kitchen')}`)).tags, ['room:1', 'site:berlin', own])
  const { marks, extent } = await json(`/fleet/map?${ours}&_=1`)
  t.strictSame(extent, { west: 13.405, south: -33.925, east: 18.425, north: 52.5201 })
  t.match(marks, [{ devices: { length: 2 } }, { devices: [{ device: named('Shed') }] }])
  const near = await json(`/fleet/map?${ours}&box=13.4049,52.5199,13.4052,52.5202`)
  t.equal(near.marks.length, 2, 'apart, where the map shows less')
  const key = 'key must be the key of tags: 1 to 32 of a-z, 0-9 and "_" that begin with a letter'
  for (const [path, text] of [
    ['/fleet/map?box=10,0,5,5', /^box must be four numbers of degrees/],
    ['/fleet/map?box=a,b,c,d', /^box must be four numbers of degrees/],
    ['/fleet/groups', key],
    ['/fleet/groups?key=site&state=late', /unknown parameter state/],
    ['/fleet?tag=berlin', /^tag must be a key, a colon and a value/],
    ['/fleet?stat=late', 'unknown parameter stat; did you mean state?'],
    ['/fleet?state=broken', 'state must be one of silent, late, never, fresh, off, or several with commas'],
    ['/fleet?after=Kitchen', 'after must be next of the previous answer'],
    ['/fleet/trends', 'device must name a device, and may be given 100 times'],
    [`/fleet/trends?${'device=fleet-Shed&'.repeat(101)}`, 'device may be given 100 times'],
    ['/fleet/insights?days=3', 'unknown parameter days'],
  ] as const) {
    await refused(path, 400, text)
  }
  await refused('/fleet/trends?device=nobody', 404, 'device unknown')
})

t.test('the last 24 hours of named devices, and their trends', async t => {
  const { until, devices } = await json('/fleet/trends?device=fleet-Shed&device=fleet-Kitchen&device=fleet-Ghost')
  t.equal(until % hourMs, 0)
  const [shed, kitchen, ...others] = devices
  t.match([shed, kitchen], [{ device: named('Shed') }, { device: named('Kitchen') }])
  t.strictSame(others, [], 'those that have sent something')
  // Ten values repeat. The last hour may have begun during the test.
  t.equal(kitchen.metric, 'temperature')
  t.strictSame(kitchen.means.slice(0, 23), Array(23).fill(24.5))
  t.match(shed, { change: null, trend: null }, 'its last value is three hours old')
})

t.test('insights have their shape, and late readings count in their hours', async t => {
  const { headers, text } = await get('/fleet/insights')
  validated(Insights, JSON.parse(text))
  t.match(headers.get('cache-control'), /^public, max-age=\d+$/)
  const lateMs = Math.floor(startMs / hourMs) * hourMs - hourMs
  const late = Array.from({ length: 60 }, (_, index) => {
    return `${named('Set')},${new Date(lateMs + index * minuteMs).toISOString()},2,1,1000,`
  })
  // It has sent a newer one. Its interval is set, so that it was not looked up within the last minute.
  await service.import(`${header}${late.join('\n')}\n`)
  await waitFor('the hour is complete', async () => {
    const set = (await fleetOf()).devices.find(({ device }) => device === named('Set'))
    const index = 23 - (Math.floor(Date.now() / hourMs) - 1 - lateMs / hourMs)
    return set?.hours[index] === 'D' && set.values['temperature'] === 1
  })
})
