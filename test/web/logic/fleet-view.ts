/** Data of the fleet page: the order, the search, events in lists, and changes since a visit. */

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import type { FleetDevice } from '../../../query/live/fleet-shape.ts'
import { liveStates } from '../../../query/live/live-state.ts'
import { columnsOfFleet } from '../../../web/pages/fleet/fleet-columns.ts'
import {
  type DeviceTrend,
  FleetDevices,
  numberedStates,
  trendsPath,
  withNewerTrends,
} from '../../../web/pages/fleet/fleet-devices.ts'
import { groupKeys, groupsOf, groupText } from '../../../web/pages/fleet/fleet-groups.ts'
import {
  firstReading,
  matchPath,
  offeredKeys,
  offeredTags,
  readTags,
  readView,
  shownDevices,
  tagArguments,
  viewArguments,
} from '../../../web/pages/fleet/fleet-view.ts'
import { changesSince, readVisit, visitOf, writeVisit } from '../../../web/pages/fleet/visit.ts'
import { questionOf, resultText, selectionMax, toggled } from '../../../web/parts/selection.ts'
import { layoutOf, rowAfterKey, windowOf } from '../../../web/parts/virtual-rows.ts'
import { deviceStates } from '../../../web/text/kind-words.ts'
import { hoursText } from '../../../web/text/times.ts'

function device(name: string, more: Partial<FleetDevice> = {}): FleetDevice {
  return {
    device: name,
    location_short: '',
    state: 'fresh',
    last_seen: 100,
    expected_interval_seconds: 10,
    values: {},
    hours: 'D'.repeat(24),
    ...more,
  }
}

const fleet = [
  device('b', { state: 'fresh', values: { temperature: 3 }, location_short: 'Porch' }),
  device('a', { state: 'silent', last_seen: 50 }),
  device('d', { state: 'never', last_seen: null }),
  device('c', { state: 'late', values: { temperature: -3, battery_percentage: 5 }, last_seen: 90 }),
]
const shown = (query: string) => shownDevices(fleet, readView(new URLSearchParams(query))).map(one => one.device)

t.test('the worst is first unless the address has an order, a search or states', async t => {
  t.strictSame(shown(''), ['a', 'c', 'd', 'b'])
  t.strictSame(shown('sort=-state'), ['b', 'd', 'c', 'a'])
  t.strictSame(shown('sort=device'), ['a', 'b', 'c', 'd'])
  t.strictSame(shown('sort=temperature'), ['c', 'b', 'a', 'd'], 'without a value last')
  t.strictSame(shown('sort=-temperature'), ['b', 'c', 'a', 'd'], 'in either direction')
  t.strictSame(shown('sort=age'), ['b', 'c', 'a', 'd'])
  t.strictSame(shown('sort=battery'), ['c', 'a', 'b', 'd'])
  t.strictSame(shown('sort=place'), ['b', 'a', 'c', 'd'], 'without a place last')
  t.strictSame(shown('q=PORCH'), ['b'])
  t.strictSame(shown('state=late,silent,nonsense'), ['a', 'c'])
  t.strictSame(shown('sort=nonsense'), ['a', 'c', 'd', 'b'])
})

t.test('devices are grouped by a tag with counts of the service', async t => {
  const counts = (silent: number, fresh: number) => ({ silent, late: 0, never: 0, fresh, off: 0 })
  const rows = [
    device('a', { tags: ['room:1', 'site:10'] }),
    device('b', { tags: ['site:9'] }),
    device('c'),
    device('d', { tags: ['site:10'] }),
    device('e', { tags: ['site:other'] }),
  ]
  const groups = {
    generated_at: 1,
    key: 'site',
    groups: [
      { tag: 'site:10', counts: counts(1, 2) },
      { tag: 'site:8', counts: counts(0, 1) },
      { tag: 'site:9', counts: counts(0, 1) },
    ],
    groups_total: 4,
    others: counts(0, 1_500),
    untagged: counts(2, 0),
  }
  const firing = { key: 'site', groups: [{ tag: 'site:10', devices: 2 }], others: 0, untagged: 1 }
  const counted: Parameters<typeof groupsOf>[2] = { groups, firing }
  const texts = (hasAll: boolean, isComplete: boolean, of = counted) =>
    groupsOf(rows, 'site', of, hasAll).map(group => {
      return [group.title, group.rows.map(one => one.device).join(''), groupText(group, isComplete)]
    })
  t.strictSame(texts(false, true), [
    ['site:9', 'b', '1 device'],
    ['site:10', 'ad', '2 of 3 devices · 1 silent · 2 with alerts'],
    ['Custom values of site', 'e', '1 of 1,500 devices'],
    ['No tag', 'c', '1 of 2 devices · 2 silent · 1 with alerts'],
  ])
  t.strictSame(texts(true, false)[0], ['site:8', '', '1 device'], 'its rows are on their way')
  t.strictSame(texts(true, false)[2], ['site:10', 'ad', '3 devices · 1 silent · 2 with alerts'])
  const unknown = { groups: undefined, firing: undefined }
  t.strictSame(texts(true, true, unknown), [
    ['site:9', 'b', ''],
    ['site:10', 'ad', ''],
    ['site:other', 'e', ''],
    ['No tag', 'c', ''],
  ])
  t.strictSame(groupKeys(rows, 'floor'), ['floor', 'room', 'site'])
  t.equal(readView(new URLSearchParams('group=Site')).group, undefined)
})

t.test('a metric without a column orders the list, too', async t => {
  const mixed = [
    device('a', { values: { co2: 900 } }),
    device('b', { values: { temperature: 3 } }),
    device('c', { values: { co2: 400, battery: 7 } }),
  ]
  const names = (query: string) => shownDevices(mixed, readView(new URLSearchParams(query))).map(one => one.device)
  t.strictSame(names('sort=metric.co2'), ['c', 'a', 'b'], 'without a value last')
  t.strictSame(names('sort=-metric.co2'), ['a', 'c', 'b'])
  t.strictSame(names('sort=metric.battery'), ['c', 'a', 'b'], 'a name that is a word of the page')
  t.strictSame(names('sort=-metric.CO2'), ['a', 'b', 'c'], 'what can be no metric is not known')
  t.strictSame(columnsOfFleet(mixed), { values: ['temperature'], customMax: 2, hasTags: false })
  t.strictSame(columnsOfFleet(fleet), { values: ['temperature', 'battery'], customMax: 0, hasTags: false })
  t.strictSame(columnsOfFleet([]), { values: [], customMax: 0, hasTags: false })
  const columns = columnsOfFleet(mixed)
  t.strictSame(offeredKeys(columns, ['co2'], 'state'), ['state', 'device', 'place', 'age', 'temperature', 'metric.co2'])
  t.strictSame(offeredKeys(columns, [], 'pressure').at(-1), 'pressure', 'what the list is ordered by is offered')
})

t.test('tags are offered by their keys, as far as they are not chosen', async t => {
  const both = device('b', { tags: ['room:2', 'site:berlin'] })
  const tagged = [device('a', { tags: ['room:1', 'site:berlin'] }), both, device('c')]
  t.equal([...offeredTags(tagged, [])].join('; '), 'room,room:*,room:1,room:2; site,site:berlin')
  t.strictSame([...offeredTags(tagged, ['site:berlin', 'room:*'])], [['room', ['room:1', 'room:2']]])
  t.ok(columnsOfFleet(tagged).hasTags)
  const many = Array.from({ length: 600 }, (_, at) => device(`d${at}`, { tags: [`room:${at}`, 'site:berlin'] }))
  t.equal(offeredTags(many, []).get('site')?.length, 1, 'the most frequent are among them')
  t.equal(offeredTags(many, []).get('room')?.length, 500)
  t.strictSame(readTags(new URLSearchParams('tag=a:b&tag=c:*&tag=a:b')), ['a:b', 'c:*'])
  const twenty = Array.from({ length: 20 }, (_, index): [string, string] => ['tag', `k${index}:v`])
  t.equal(readTags(new URLSearchParams(twenty)).length, 16)
  t.equal(tagArguments(['a:b c&', 'd:*']), '&tag=a%3Ab%20c%26&tag=d%3A*')
})

t.test('a state is a number in all rows where any device has another than 0 and 1', async t => {
  const common = { title: '', unit: null, decimals: 0 }
  const state = { ...common, kind: 'state' } as const
  const described = { pump: state, mode: state, co2: { ...common, kind: 'gauge' } } as const
  const list = [device('a', { values: { pump: 1, mode: 1, co2: 400 } }), device('b', { values: { pump: 0, mode: 3 } })]
  t.strictSame(numberedStates(list, described), ['mode'])
  t.strictSame(numberedStates(list.slice(0, 1), described), [])
})

t.test("only the list's metrics of a device are sent to its page", async t => {
  const known = new FleetDevices()
  known.take([device('a', { values: { co2: 1, door: 0, lux: 2, noise: 3, ph: 4 } })])
  known.takeReading({ device: 'a', ts: 200, values: { door: 1, rain: 5, wind: 6 } })
  const six = { co2: 1, door: 1, lux: 2, noise: 3, ph: 4, rain: 5 }
  t.strictSame(known.get('a')?.values, six)
  known.take([device('a', { values: { wind: 9, noise: 8 } })])
  t.strictSame(known.get('a')?.values, { wind: 9, noise: 3, co2: 1, door: 1, lux: 2, ph: 4 }, 'an older list')
})

t.test('the states equal the service in its order', async t => {
  t.strictSame(deviceStates, liveStates)
})

t.test('a view is restored from its arguments, by default without any', async t => {
  for (const query of ['', 'q=x+y&state=silent,late&sort=-age&group=site', 'sort=-metric.co2']) {
    const view = readView(new URLSearchParams(query))
    t.strictSame(readView(new URLSearchParams(viewArguments({}, view))), view)
  }
  t.strictSame(viewArguments({}, readView(new URLSearchParams())), { q: '', state: '', sort: '', group: '', show: '' })
})

t.test('the newest word of a device stays, in whichever order lists and events come', async t => {
  const devices = new FleetDevices()
  t.notOk(devices.takeReading({ device: 'a', ts: 10, values: {} }), 'not known yet')
  devices.take([device('a', { last_seen: 100, values: { temperature: 1, humidity: 40 } })])
  t.ok(devices.takeReading({ device: 'a', ts: 200, values: { temperature: 2 } }))
  devices.takeState('a', 'late')
  t.match(devices.get('a'), { last_seen: 200, values: { temperature: 2, humidity: 40 }, state: 'late' })
  devices.take([device('a', { last_seen: 100, values: { temperature: 1 }, hours: 'C'.repeat(24) })])
  t.match(devices.get('a'), { last_seen: 200, values: { temperature: 2 }, state: 'late', hours: 'C'.repeat(24) })
  devices.takeReading({ device: 'a', ts: 150, values: { temperature: 9 } })
  t.match(devices.get('a'), { last_seen: 200, values: { temperature: 2 } })
  devices.take([device('a', { last_seen: 200, state: 'silent' })])
  t.equal(devices.get('a')?.state, 'silent', 'the list has the same reading and is newer')
  devices.replace([device('b')])
  t.equal(devices.get('a'), undefined)
  t.strictSame(devices.counts(), { silent: 0, late: 0, never: 0, fresh: 1, off: 0 })
})

t.test('changes since the last visit are shown', async t => {
  const visit = visitOf(fleet, 1000)
  t.strictSame(visit, { atMs: 1000, silent: ['a'] })
  t.equal(changesSince(visit, fleet), undefined)
  const now = [device('a'), device('b', { state: 'silent' }), device('c', { state: 'off' })]
  const changes = changesSince({ atMs: 1000, silent: ['a', 'c', 'removed'] }, now)
  t.strictSame(changes, { sinceMs: 1000, becameSilent: ['b'], cameBack: ['a'] })
})

t.test('a visit is remembered where the browser allows it', async t => {
  const stored = new Map<string, string>()
  const items = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (k: string, v: string) => void stored.set(k, v),
  }
  const storage = () => items
  t.equal(readVisit(storage), undefined)
  writeVisit(storage, { atMs: 1, silent: ['a'] })
  t.strictSame(readVisit(storage), { atMs: 1, silent: ['a'] })
  for (const text of ['', '{', '[]', '{"atMs":1}', '{"atMs":"1","silent":[]}']) {
    const visit = readVisit(() => ({ ...items, getItem: () => text }))
    t.equal(visit, undefined, text)
  }
  const refuse = () => {
    throw new Error('no storage')
  }
  for (const refused of [refuse, () => ({ getItem: refuse, setItem: refuse })]) {
    writeVisit(refused, { atMs: 1, silent: [] })
    t.equal(readVisit(refused), undefined)
  }
})

t.test('the document has only the visible rows while keys reach any row', async t => {
  const layout = layoutOf({ rows: 10_000, rowHeight: 50 })
  t.strictSame(windowOf(100, 800, layout), { from: 0, to: 26 })
  t.strictSame(windowOf(-5_000, 800, layout), { from: 88, to: 128 })
  t.strictSame(windowOf(-500_000, 800, layout), { from: 9_988, to: 10_000 })
  t.strictSame(windowOf(1_500, 800, layout), { from: 0, to: 0 })
  t.strictSame(windowOf(0, 800, layoutOf({ rows: 0, rowHeight: 50 })), { from: 0, to: 0 })
  t.equal(rowAfterKey('ArrowDown', 9, 10, 5), 9)
  t.equal(rowAfterKey('ArrowUp', 0, 10, 5), 0)
  t.equal(rowAfterKey('PageDown', 1, 10, 5), 6)
  t.equal(rowAfterKey('End', 1, 10, 5), 9)
  t.equal(rowAfterKey('a', 1, 10, 5), undefined)
})

t.test('headings separate groups of rows, which may lack one', async t => {
  const layout = layoutOf({ rows: 5, rowHeight: 50, headings: [0, 2, 2, 5], headingHeight: 20 })
  const places = Array.from({ length: layout.count }, (_, place) => place)
  const of = (read: (place: number) => number | undefined) => places.map(read).join()
  t.equal(of(layout.headingAt), '0,,,1,2,,,,3')
  t.equal(of(layout.rowAt), '0,0,1,2,2,2,3,4,5')
  t.equal(of(layout.topOf), '0,20,70,120,140,160,210,260,310')
  t.equal(of(layout.heightOf), '20,50,50,20,20,50,50,50,20')
  t.equal(layout.height, 330)
  t.strictSame([0, 1, 2, 4].map(layout.placeOfRow), [1, 2, 5, 7])
  t.strictSame([0, 1, 2, 3].map(layout.placeOfHeading), [0, 3, 4, 8])
  t.strictSame([0, 19, 20, 139, 140, 159, 329, 330, 380, -1].map(layout.placeAt), [0, 0, 1, 3, 4, 4, 8, 9, 10, -1])
  t.equal(layout.rowAt(layout.count), 5)
})

t.test('hours are in words', async t => {
  t.equal(
    hoursText('--AABCCDDDDDDDDDDDDDDDDD'),
    '24 hours: 17 complete, 2 at least half, 1 less than half, 2 without readings, 2 before the first reading',
  )
  t.equal(hoursText('-'.repeat(24)), 'no full hour yet')
})

t.test('the commands of an empty fleet equal the README', async t => {
  const readme = readFileSync(resolve('README.md'), 'utf8')
  t.ok(readme.includes(`\n${firstReading.add}\n`))
  t.ok(readme.includes(`\n${firstReading.send('$URL')}\n`))
})

t.test('the request for the visible rows is bounded and independent of their order', async t => {
  const row = (device: string, last_seen: number | null = 1) => ({ device, last_seen })
  t.equal(trendsPath([row('b'), row('a & c'), row('never', null)]), '/api/fleet/trends?device=a%20%26%20c&device=b')
  t.equal(trendsPath([row('never', null)]), undefined)
  const many = trendsPath(Array.from({ length: 300 }, (_, index) => row(`${index}`))) ?? ''
  t.equal(many.split('device=').length - 1, 100)
  const long = trendsPath(Array.from({ length: 100 }, (_, index) => row('ü'.repeat(100) + index))) ?? ''
  t.ok(long.length > 5_000 && long.length <= 6_000)
})

t.test('trends that are known stay, up to a number', async t => {
  const trend = (device: string, change: number): DeviceTrend => {
    return { device, metric: 'temperature', means: [], change, trend: 'steady' }
  }
  const known = withNewerTrends(new Map(), [trend('a', 1), trend('b', 1)])
  t.strictSame([...withNewerTrends(known, [trend('a', 2)]).values()], [trend('b', 1), trend('a', 2)])
  const newer = Array.from({ length: 2000 }, (_, index) => trend(`${index}`, 0))
  const many = withNewerTrends(known, newer)
  t.equal(many.size, 2000)
  t.notOk(many.has('a'))
})

t.test('devices are selected up to the limit of a change, which states their number', async t => {
  t.strictSame([...toggled(new Set(['a']), 'b')], ['a', 'b'])
  t.strictSame([...toggled(new Set(['a', 'b']), 'a')], ['b'])
  const full = new Set(Array.from({ length: selectionMax }, (_, at) => `d${at}`))
  t.equal(toggled(full, 'another').size, selectionMax)
  t.equal(toggled(full, 'd0').size, selectionMax - 1)
  const view = readView(new URLSearchParams('q=+a%26b+&state=late,off'))
  t.equal(matchPath(view, ['site:x y']), '/api/fleet?order=name&limit=500&state=late,off&q=a%26b&tag=site%3Ax%20y')
  t.equal(matchPath(readView(new URLSearchParams()), []), '/api/fleet?order=name&limit=500')
  t.equal(questionOf('rotate', 1).title, 'New passwords for 1 device?')
  t.equal(resultText('resume', 2, 0), '2 devices resumed.')
  t.equal(resultText('untag', 3, 0), '3 devices without the tag.')
})
