import { test } from 'tap'
import {
  createSilencer,
  isInWindows,
  NewSilence,
  type Silencing,
  type WeeklyWindow,
} from '../../../alerts/core/silence.ts'
import { createLocalTime } from '../../../analytics/time/local-time.ts'

const utc = () => 0
const at = (text: string) => Date.parse(text)
/** Silences everything from 100 to 200. */
const all = { all: true as const }
const whole = { id: 7, owner: null, selector: all, ruleId: null, fromMs: 100, untilMs: 200, weekly: null }

test('a weekly window that ends before it begins spans midnight', async t => {
  const nights: WeeklyWindow[] = [{ days: [1, 7], from: '22:00', until: '06:00' }]
  const holding = (windows: WeeklyWindow[], texts: string[]) =>
    texts.filter(text => isInWindows(windows, at(`2026-05-${text}Z`)))
  // 4 May 2026 is a Monday.
  const asked = ['03T05:00', '03T22:00', '04T05:59', '04T21:59', '04T22:00', '05T05:59', '05T06:00', '05T23:00']
  t.strictSame(holding(nights, asked), ['03T22:00', '04T05:59', '04T22:00', '05T05:59'])
  const tuesday: WeeklyWindow[] = [{ days: [2], from: '00:00', until: '00:00' }]
  t.strictSame(holding(tuesday, ['04T23:59', '05T00:00', '05T23:59', '06T00:00']), ['05T00:00', '05T23:59'])
  t.equal(isInWindows([{ days: [4], from: '00:00', until: '00:01' }], 0), true, 'day 0 was a Thursday')
  t.equal(isInWindows([{ days: [3], from: '23:59', until: '00:00' }], -1), true, 'and the one before a Wednesday')
})

test('weekly windows follow the clock of the zone, also over its changes', async t => {
  const { offsetMs } = createLocalTime('Europe/Berlin')
  const weekly = [{ days: [7], from: '02:30', until: '04:00' }]
  const silence: Silencing = { ...whole, id: 1, fromMs: 0, untilMs: Number.POSITIVE_INFINITY, weekly }
  const alert = { rule: { id: 1, owner: null, selector: null }, device: undefined }
  const found = (text: string) => {
    const nowMs = at(text)
    return createSilencer([silence], { nowMs, horizonMs: nowMs + 300_000, offsetMs })(alert)
  }
  // The clock goes from 02:00 to 03:00 on 29 March 2026, at 01:00 UTC.
  t.equal(found('2026-03-29T00:59Z'), undefined)
  t.match(found('2026-03-29T01:00Z'), { id: 1 })
  t.strictSame(found('2026-03-29T01:58:30Z'), { id: 1, endsMs: at('2026-03-29T02:00Z') })
  t.equal(found('2026-03-29T02:00Z'), undefined)
})

const device = (name: string, ...tags: string[]) => ({ name, tags })
const silencer = (silence: Partial<Silencing>) =>
  createSilencer([{ ...whole, ...silence }], { nowMs: 150, horizonMs: 1000, offsetMs: utc })

test('a silence applies to its owner, its rule and its devices', async t => {
  const rule = { id: 3, owner: 5, selector: all }
  const holds = (silence: Partial<Silencing>, of = device('a', 'site:berlin')) =>
    silencer(silence)({ rule, device: of }) !== undefined
  t.ok(holds({}))
  t.ok(holds({ owner: 5 }))
  t.notOk(holds({ owner: 6 }))
  t.ok(holds({ ruleId: 3 }))
  t.notOk(holds({ ruleId: 4 }))
  t.ok(holds({ selector: { tags: ['site:*'] } }))
  t.notOk(holds({ selector: { devices: ['b'] } }))
  t.notOk(holds({ fromMs: 151 }))
  t.notOk(holds({ untilMs: 150 }))
})

test('an alert of a whole selector is silenced by a silence of all its devices', async t => {
  const holds = (outer: Silencing['selector'], inner: Silencing['selector'] | null) =>
    silencer({ selector: outer })({ rule: { id: 3, owner: null, selector: inner }, device: undefined }) !== undefined
  t.ok(holds({ all: true }, { tags: ['site:berlin'] }))
  t.ok(holds({ all: true }, null))
  t.ok(holds({ tags: ['site:berlin'] }, { tags: ['site:berlin', 'room:cellar'] }))
  t.ok(holds({ tags: ['site:*'] }, { tags: ['site:berlin'] }))
  t.ok(holds({ devices: ['a', 'b'] }, { devices: ['a'] }))
  t.notOk(holds({ tags: ['site:berlin'] }, null))
  t.notOk(holds({ tags: ['site:berlin'] }, { tags: ['site:*'] }))
  t.notOk(holds({ tags: ['site:berlin'] }, { all: true }))
  t.notOk(holds({ devices: ['a'] }, { devices: ['a', 'b'] }))
  t.notOk(holds({ devices: ['a'] }, { tags: ['site:berlin'] }))
})

test('the silence that ends last is returned, limited to the horizon', async t => {
  const silences = [200, 400, 300].map((untilMs, at) => ({ ...whole, id: at + 1, untilMs }))
  const alert = { rule: { id: 1, owner: null, selector: null }, device: undefined }
  const find = (horizonMs: number) => createSilencer(silences, { nowMs: 150, horizonMs, offsetMs: utc })(alert)
  t.strictSame(find(1000), { id: 2, endsMs: 400 })
  t.equal(find(250)?.endsMs, 250)
})

test('a silence needs an end or weekly windows', async t => {
  const faults = (fields: object) =>
    NewSilence.safeParse({ selector: { all: true }, ...fields }).error?.issues.map(issue => issue.message)
  t.strictSame(faults({}), ['must be there without weekly windows'])
  t.equal(faults({ until: '2026-05-04T12:00:00+02:00' }), undefined)
  t.equal(faults({ weekly: [{ days: [1], from: '22:00', until: '06:00' }] }), undefined)
  t.strictSame(faults({ weekly: [{ days: [1], from: '24:00', until: '06:00' }] }), ['must be a time as 06:30'])
  t.strictSame(faults({ from: '2026-05-04T12:00:00Z', until: '2026-05-04T12:00:00Z' }), ['must be later than from'])
})
