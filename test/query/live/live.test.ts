/** The state of the fleet by made readings and the test's clock. */

import t, { type Test } from 'tap'
import type { LiveDevice } from '../../../query/live/device-state.ts'
import { LiveFleet } from '../../../query/live/live-fleet.ts'
import type { LiveState } from '../../../query/live/live-state.ts'
import { liveStates } from '../../../query/live/live-state.ts'
import { hourMs, minuteMs } from '../../analytics/series.ts'
import { until } from '../../support/processes.ts'
import { type MadeFleet, madeDevice, makeFleet, stored } from './made-fleet.ts'

const startMs = Date.UTC(2026, 5, 1, 12)
const all = { states: liveStates, order: 'state', after: undefined, limit: 1000 } as const

// biome-ignore lint/suspicious/noExplicitAny: what the page says is compared as it is
const listed = ({ live }: MadeFleet, request: object = {}): any[] =>
  live.page({ ...all, ...request }).devices.map(text => JSON.parse(text))
const only = (fleet: MadeFleet, name: string) => listed(fleet).find(({ device }) => device === name)

t.test('states change by readings and by time alone, as the statistics have them', async t => {
  const fleet = await makeFleet(t, [madeDevice(1, { expected_interval_seconds: 60 })], startMs)
  const changes: string[] = []
  fleet.live.onState((device, before, now) => changes.push(`${device.number}: ${before}, ${now}`))
  const state = () => fleet.live.stateOf(1)
  t.equal(state(), 'never')
  fleet.take([{ device: 1, timeMs: startMs, temperature: 20 }])
  t.equal(state(), 'fresh')
  const states = { 120000: 'fresh', 121999: 'late', 360000: 'late', 361999: 'silent' }
  for (const [ageMs, expected] of Object.entries(states)) {
    fleet.clock.nowMs = startMs + Number(ageMs)
    await until(`${expected} after ${ageMs} ms`, () => state() === expected)
  }
  fleet.take([{ device: 1, timeMs: fleet.clock.nowMs, temperature: 20 }])
  t.equal(state(), 'fresh')
  t.strictSame(changes, ['1: never, fresh', '1: fresh, late', '1: late, silent', '1: silent, fresh'])
  t.strictSame(fleet.live.counts(), { silent: 0, late: 0, never: 0, fresh: 1, off: 0 })
})

t.test('only received readings make a device silent by their absence', async t => {
  const clock = { nowMs: startMs, receivedUntilMs: startMs }
  const fleet = new LiveFleet({
    nowMs: () => clock.nowMs,
    receivedUntilMs: () => clock.receivedUntilMs,
    wants: () => undefined,
    failed: error => t.fail(String(error)),
  })
  fleet.fill([1, 2].map(number => madeDevice(number, { expected_interval_seconds: 60 })))
  const take = (timeMs: number, ...devices: number[]) =>
    fleet.take(stored(devices.map(device => ({ device, timeMs, temperature: 20 }))))
  const states = () => [1, 2].map(number => fleet.get(number)?.state)
  take(startMs, 1, 2)
  clock.nowMs = startMs + 10 * minuteMs
  t.notOk(fleet.advance())
  t.strictSame(states(), ['fresh', 'fresh'], 'nothing was received for ten minutes')
  clock.receivedUntilMs = startMs + 9 * minuteMs
  take(startMs + 9 * minuteMs, 1)
  fleet.advance()
  t.strictSame(states(), ['fresh', 'silent'])
  clock.nowMs = startMs + 20 * minuteMs
  take(startMs + 4 * minuteMs, 2)
  t.strictSame(states(), ['fresh', 'late'], 'as of when it was received')
})

t.test('a reading replaces another one of the same time but never a newer one', async t => {
  const fleet = await makeFleet(t, [madeDevice(1, { expected_interval_seconds: 60 })], startMs)
  fleet.take([
    { device: 1, timeMs: startMs, temperature: 20, humidity: 50 },
    { device: 1, timeMs: startMs - minuteMs, temperature: 1, pressure: 1000 },
  ])
  t.match(fleet.live.latest(1), { last_seen: startMs, values: { temperature: { v: 20 }, pressure: { v: 1000 } } })
  fleet.take([
    { device: 1, timeMs: startMs + 4 * minuteMs, temperature: 22 },
    { device: 1, timeMs: startMs + 4 * minuteMs, temperature: 23 },
    { device: 2, timeMs: startMs + 4 * minuteMs, temperature: 99 },
  ])
  t.strictSame(fleet.live.latest(1), {
    device: 'device-1',
    location_short: '',
    state: 'fresh',
    last_seen: startMs + 4 * minuteMs,
    values: {
      temperature: { v: 23, ts: startMs + 4 * minuteMs, unit: '°C' },
      humidity: { v: 50, ts: startMs, unit: '%' },
      pressure: { v: 1000, ts: startMs - minuteMs, unit: 'hPa' },
    },
  })
  t.equal(fleet.live.latest(2), undefined)
  // An hour later the list no longer has them, and a single device has.
  fleet.clock.nowMs = startMs + 61 * minuteMs
  t.strictSame(only(fleet, 'device-1').values, { temperature: 23 })
  fleet.clock.nowMs = startMs + 65 * minuteMs
  t.strictSame(only(fleet, 'device-1').values, {})
})

t.test('24 letters say how complete each full hour is', async t => {
  const devices = [madeDevice(1, { expected_interval_seconds: 60 }), madeDevice(2)]
  const fleet = await makeFleet(t, devices, startMs - 24 * hourMs)
  const hour = (hoursAgo: number, count: number, retriesMs = [0]) =>
    Array.from({ length: count }, (_, index) => startMs - hoursAgo * hourMs + index * minuteMs).flatMap(timeMs =>
      retriesMs.map(retryMs => ({ device: 1, timeMs: timeMs + retryMs, temperature: 1 })),
    )
  fleet.clock.nowMs = startMs + 10 * minuteMs
  // A retry a second after a reading does not count.
  fleet.take([...hour(5, 60), ...hour(4, 29, [0, 1000]), ...hour(3, 53), ...hour(1, 54), ...hour(0, 10)])
  t.equal(only(fleet, 'device-1').hours, `${'-'.repeat(19)}DBCAD`)
  t.equal(only(fleet, 'device-2').hours, '-'.repeat(24))
  fleet.clock.nowMs = startMs + 2 * hourMs
  t.equal(only(fleet, 'device-1').hours, `${'-'.repeat(17)}DBCADBA`)
  fleet.clock.nowMs = startMs + 300 * hourMs
  t.equal(only(fleet, 'device-1').hours, 'A'.repeat(24))
})

t.test('hours in which nothing came are empty, however full they were a day before', async t => {
  const fleet = await makeFleet(t, [madeDevice(1, { expected_interval_seconds: 600 })], startMs)
  const from = (hour: number, hours: number) =>
    Array.from({ length: 6 * hours }, (_, index) => {
      return { device: 1, timeMs: startMs + hour * hourMs + index * 10 * minuteMs, temperature: 1 }
    })
  fleet.clock.nowMs = startMs + 37 * hourMs
  fleet.take([...from(0, 30), ...from(36, 1)])
  t.equal(only(fleet, 'device-1').hours, `${'D'.repeat(17)}${'A'.repeat(6)}D`)
})

t.test('pages continue after a removed place, with the requested states and order', async t => {
  const devices = Array.from({ length: 30 }, (_, index) => madeDevice(index + 1, { expected_interval_seconds: 60 }))
  const sorted = devices.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const fleet = await makeFleet(t, sorted, startMs)
  const late = sorted.filter(({ number }) => number % 2 === 0)
  fleet.take(late.map(({ number }) => ({ device: number, timeMs: startMs - 4 * minuteMs, temperature: number })))
  const first = fleet.live.page({ ...all, limit: 10 })
  const [last, next] = [late[9], late[10]]
  t.strictSame(first.last, { state: 'late', name: last?.name })
  fleet.take([{ device: last?.number ?? 0, timeMs: startMs, temperature: 1 }])
  t.match(listed(fleet, { after: first.last, limit: 1 }), [{ device: next?.name }])
  fleet.live.deviceRemoved(last?.number ?? 0)
  t.match(listed(fleet, { after: first.last, limit: 1 }), [{ device: next?.name }])
  t.equal(listed(fleet, { states: ['never'] }).length, 15)
  const names = sorted.map(({ name }) => name).filter(name => name !== last?.name)
  const byName = listed(fleet, { order: 'name' }).map(({ device }) => device)
  t.strictSame(byName, names)
})

t.test('a search finds part of a name or place, whatever the case, in the same order', async t => {
  const devices = Array.from({ length: 10_000 }, (_, index) => {
    const location_short = index % 100 === 0 ? 'Große KÜCHE' : 'elsewhere'
    return madeDevice(index + 1, { location_short, expected_interval_seconds: 60 })
  }).sort((a, b) => (a.name < b.name ? -1 : 1))
  const fleet = await makeFleet(t, devices, startMs)
  fleet.take(devices.slice(0, 5000).map(({ number }) => ({ device: number, timeMs: startMs, temperature: 1 })))
  const never = new AbortController().signal
  for (const order of ['state', 'name'] as const) {
    const whole = listed(fleet, { order, limit: 20_000 }).filter(one => one.location_short !== 'elsewhere')
    const found: unknown[] = []
    let after: { state: LiveState; name: string } | undefined
    do {
      const page = await fleet.live.search({ ...all, order, limit: 30, after }, 'küche', never)
      found.push(...(page?.devices.map(text => JSON.parse(text)) ?? []))
      after = page?.last
    } while (after !== undefined)
    t.equal(found.length, 100)
    t.strictSame(found, whole)
  }
  await onlySoMany(t, () => fleet.live.search(all, 'device', never))
  await t.rejects(async () => await fleet.live.search(all, 'x', AbortSignal.abort()))
})

/** A fifth concurrent scan of a whole fleet is refused. */
async function onlySoMany(t: Test, ask: () => Promise<unknown> | undefined): Promise<void> {
  const five = Array.from({ length: 5 }, ask)
  t.equal(five.filter(answer => answer === undefined).length, 1, 'only so many at once')
  await Promise.all(five)
}

const none = { silent: 0, late: 0, never: 0, fresh: 0, off: 0 }

t.test(
  'devices are counted by their tags of a key: the largest groups, the rest, and devices without the key',
  async t => {
    // Each of 1,001 sites has three devices, except the last with one, which is not listed. Every tenth device has no site.
    const siteOf = (index: number) => `site:${String(index % 1001).padStart(4, '0')}`
    const devices = Array.from({ length: 3002 }, (_, index) => {
      const tags = index % 10 === 9 ? ['room:1', 'sites:x'] : ['room:1', siteOf(index)]
      return madeDevice(index + 1, { tags, log_switch: index % 4 !== 0 })
    }).sort((a, b) => (a.name < b.name ? -1 : 1))
    const fleet = await makeFleet(t, devices, startMs)
    const bySite = Map.groupBy(devices, ({ tags }) => tags.find(tag => tag.startsWith('site:')))
    const expected = (tag: string | undefined) => {
      const of = bySite.get(tag) ?? []
      const off = of.filter(({ log_switch }) => !log_switch).length
      return { ...none, never: of.length - off, off }
    }
    const answer = await fleet.live.groups('site')
    const { groups = [] } = answer ?? {}
    t.strictSame([answer?.groups_total, groups.length], [bySite.size - 1, 1000])
    const listed = groups.map(({ tag }) => tag)
    t.strictSame(listed, listed.toSorted())
    for (const { tag, counts } of groups) if (tag.endsWith('7')) t.strictSame(counts, expected(tag), tag)
    const [left, ...others] = [...bySite.keys()].filter(tag => tag !== undefined && !listed.includes(tag))
    t.strictSame(others, [])
    t.equal(bySite.get(left)?.length, Math.min(...[...bySite.values()].map(found => found.length)))
    t.strictSame([answer?.others, answer?.untagged], [expected(left), expected(undefined)])
    const some = devices.filter(({ number }) => number <= 5)
    t.strictSame(await fleet.live.groups('room', some), {
      ...{ key: 'room', groups: [{ tag: 'room:1', counts: { ...none, never: 3, off: 2 } }], groups_total: 1 },
      ...{ others: none, untagged: none },
    })
    fleet.live.deviceChanged(madeDevice(2, { tags: ['site:moved'] }))
    t.match((await fleet.live.groups('site'))?.groups, [{ tag: 'site:0000' }])
    await onlySoMany(t, () => fleet.live.groups('site'))
  },
)

t.test('marks on the map count all devices and name the worst', async t => {
  const placeOf = (index: number) => ({
    latitude: ((index * 7919) % 1801) / 10 - 90,
    longitude: ((index * 104_729) % 3601) / 10 - 180,
  })
  const devices = Array.from({ length: 6000 }, (_, index) =>
    madeDevice(index + 1, { log_switch: index % 4 !== 0, ...(index % 10 === 9 ? {} : placeOf(index)) }),
  ).sort((a, b) => (a.name < b.name ? -1 : 1))
  const fleet = await makeFleet(t, devices, startMs)
  const everything = { states: liveStates, search: undefined, box: undefined }
  const ask = async (more: object = {}, of?: typeof devices) => {
    const answer = await fleet.live.map({ ...everything, ...more }, of)
    if (answer === undefined) throw new Error('refused')
    const sum = (name: 'never' | 'off') => answer.marks.reduce((total, { counts }) => total + counts[name], 0)
    return { ...answer, never: sum('never'), off: sum('off') }
  }
  const world = await ask()
  const placed = devices.filter(({ latitude }) => latitude !== null)
  t.strictSame([world.never, world.off], [placed.length - placed.filter(({ log_switch }) => !log_switch).length, 1500])
  t.match(world.unplaced, { never: 600, off: 0 })
  const [west, south] = (['longitude', 'latitude'] as const).map(name =>
    Math.min(...placed.map(one => Number(one[name]))),
  )
  t.match(world.extent, { west, south })
  t.ok(world.marks.length > 200 && world.marks.length <= 625, `${world.marks.length} marks`)
  const inBox = await fleet.live.map({ ...everything, box: world.extent ?? undefined })
  t.strictSame(inBox, await fleet.live.map(everything))
  for (const { latitude, longitude, extent, counts, devices: named } of world.marks) {
    t.ok(latitude >= extent.south && latitude <= extent.north && longitude >= extent.west && longitude <= extent.east)
    t.equal(named.length, Math.min(counts.never + counts.off, Math.floor(2000 / world.marks.length)))
    t.equal(named.filter(({ state }) => state === 'never').length, Math.min(counts.never, named.length), 'worst first')
  }
  const box = { west: 0, south: 0, east: 20, north: 10 }
  const isIn = (value: number | null, max: number) => Number(value) >= 0 && Number(value) <= max
  const within = placed.filter(({ longitude, latitude }) => isIn(longitude, 20) && isIn(latitude, 10))
  const part = await ask({ box })
  t.equal(part.never + part.off, within.length)
  t.strictSame(part.extent, world.extent, 'of all, wherever the box is')
  const states = await ask({ box, states: ['off'] })
  t.strictSame([states.never, states.off], [0, part.off])
  const searched = await ask({ search: 'DEVICE-12' })
  t.equal(searched.never + searched.off, placed.filter(({ name }) => name.startsWith('device-12')).length)
  t.strictSame(await fleet.live.map(everything, []), { extent: null, marks: [], unplaced: none })
  const [one] = placed as [LiveDevice]
  const { name: device, latitude, longitude } = one
  t.match(await ask({}, [one]), { marks: [{ latitude, longitude, devices: [{ device }] }] })
  for (const { number } of devices) fleet.live.deviceChanged(madeDevice(number, { latitude: 51.5, longitude: -0.1 }))
  const [mark, ...others] = (await ask()).marks
  t.strictSame([others.length, mark?.counts.never, mark?.devices.length, mark?.latitude], [0, 6000, 2000, 51.5])
  await onlySoMany(t, () => fleet.live.map(everything))
})

t.test('the registry is followed: made, renamed, switched off, configured, removed and made again', async t => {
  const fleet = await makeFleet(t, [madeDevice(1), madeDevice(2)], startMs)
  fleet.take([{ device: 1, timeMs: startMs, temperature: 1 }])
  fleet.live.deviceChanged(madeDevice(3, { name: 'a first one' }))
  fleet.live.deviceChanged(madeDevice(1, { name: 'zebra', location_short: 'zoo' }))
  const texts = listed(fleet).map(({ device, state, location_short }) => `${device}: ${state} ${location_short}`)
  t.strictSame(texts, ['a first one: never ', 'device-2: never ', 'zebra: fresh zoo'])
  fleet.live.deviceChanged(madeDevice(3, { name: 'the last but one' }))
  const names = listed(fleet, { order: 'name' }).map(({ device }) => device)
  t.strictSame(names, ['device-2', 'the last but one', 'zebra'])
  fleet.live.deviceChanged(madeDevice(1, { name: 'zebra', log_switch: false }))
  t.equal(fleet.live.stateOf(1), 'off')
  fleet.live.deviceChanged(madeDevice(1, { name: 'zebra', expected_interval_seconds: 3600 }))
  t.match(only(fleet, 'zebra'), { state: 'fresh', expected_interval_seconds: 3600 })
  fleet.live.deviceRemoved(1)
  fleet.take([{ device: 1, timeMs: startMs, temperature: 1 }])
  t.equal(fleet.live.latest(1), undefined)
  fleet.live.deviceChanged(madeDevice(4, { name: 'zebra' }))
  t.match(only(fleet, 'zebra'), { state: 'never', last_seen: null, values: {}, expected_interval_seconds: null })
  t.strictSame(fleet.live.counts(), { silent: 0, late: 0, never: 3, fresh: 0, off: 0 })
})

t.test('a reading ahead of the clock is the last one and counts in its hour later', async t => {
  const fleet = await makeFleet(t, [madeDevice(1, { expected_interval_seconds: 60 })], startMs - minuteMs)
  fleet.take([{ device: 1, timeMs: startMs + 2 * minuteMs, temperature: 1 }])
  t.match(only(fleet, 'device-1'), { state: 'fresh', last_seen: startMs + 2 * minuteMs, hours: '-'.repeat(24) })
  fleet.clock.nowMs = startMs + hourMs
  t.equal(only(fleet, 'device-1').hours, `${'-'.repeat(23)}B`)
})

t.test('a clock that is set back takes states back', async t => {
  const fleet = await makeFleet(t, [madeDevice(1, { expected_interval_seconds: 60 })], startMs)
  fleet.take([{ device: 1, timeMs: startMs, temperature: 1 }])
  fleet.clock.nowMs = startMs + hourMs
  await until('it is silent by the wrong clock', () => fleet.live.stateOf(1) === 'silent')
  fleet.clock.nowMs = startMs + 1000
  await until('it is fresh by the right one', () => fleet.live.stateOf(1) === 'fresh')
  fleet.clock.nowMs = startMs + 121_000
  await until('time goes on from there', () => fleet.live.stateOf(1) === 'late')
})

t.test('expired readings are removed', async t => {
  let expiredBeforeUs = Number.NEGATIVE_INFINITY
  const hourSources = () => ({ rawFromUs: Number.NEGATIVE_INFINITY, expiredBeforeUs })
  const fleet = await makeFleet(t, [madeDevice(1), madeDevice(2)], startMs, { hourSources })
  fleet.take([
    { device: 1, timeMs: startMs, temperature: 1 },
    { device: 2, timeMs: startMs + 1, temperature: 1 },
  ])
  expiredBeforeUs = (startMs + 1) * 1000
  await until('the older reading has expired', () => fleet.live.stateOf(1) === 'never')
  t.equal(fleet.live.stateOf(2), 'fresh')
})
