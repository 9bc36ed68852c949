/** The parts of charts that need no browser: time axes, broken lines, ranges in addresses, paths and labels. */

import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { coloursOf, metricColour } from '../../../web/charts/colours.ts'
import { breakAtGaps, joinColumns, lonePlaces, nearestPlace } from '../../../web/charts/line-data.ts'
import { areaPath, extentOf, linearScale, linePath, type Spot, spreadLabels } from '../../../web/charts/paths.ts'
import {
  addressFault,
  customWindow,
  localMinute,
  monthUpTo,
  pan,
  type Range,
  rangeArguments,
  readRange as readRangeOf,
  select,
  spanMsMax,
  spanMsMin,
  stepOf,
  windowOf,
  zoom,
} from '../../../web/charts/range.ts'
import { axisText, timeTicks, valueRange, valueTicks } from '../../../web/charts/ticks.ts'
import { createZone, dayMs } from '../../../web/text/zone.ts'

const presets = ['24h', '7d', '30d', '365d'] as const
const readRange = (search: string) => readRangeOf(new URLSearchParams(search), presets)
function writeRange(range: Range): string {
  const fields = Object.entries(rangeArguments(range)).filter(([, value]) => value !== undefined)
  return fields.map(([name, value]) => `${name}=${value}`).join('&')
}
const minuteMs = 60_000
const hourMs = 3_600_000
const berlin = createZone('Europe/Berlin')
const at = (text: string) => Date.parse(text)
const clockOf = (timeZone: string) =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })

t.test('a local day begins where its date does, also where the clocks change', async t => {
  for (const [zone, date, start] of [
    ['Europe/Berlin', '2025-03-30', '2025-03-29T23:00'],
    ['Europe/Berlin', '2025-03-31', '2025-03-30T22:00'],
    ['America/Sao_Paulo', '2018-11-04', '2018-11-04T03:00'],
  ] as const) {
    const startMs = createZone(zone).dayStartMs(at(`${date}T00:00Z`) / dayMs)
    t.equal(new Date(startMs).toISOString().slice(0, 16), start, zone)
  }
})

t.test('ticks stand at round times of the zone, no more than asked for', async () => {
  const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata'].map(createZone)
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.integer({ min: at('2024-01-01'), max: at('2026-12-31') }),
      fc.integer({ min: spanMsMin, max: spanMsMax }),
      fc.integer({ min: 2, max: 12 }),
      (zone, fromMs, spanMs, countMax) => {
        const ticks = timeTicks(zone, fromMs, fromMs + spanMs, countMax)
        if (ticks.length > countMax + 3) throw new Error(`${ticks.length} ticks`)
        const clock = clockOf(zone.name)
        let lastMs = fromMs - 1
        for (const { atMs, text } of ticks) {
          if (atMs <= lastMs || atMs > fromMs + spanMs) throw new Error('not in order, or outside')
          lastMs = atMs
          if (/^\d\d:\d\d$/.test(text) === (clock.format(atMs).slice(11) === '00:00'))
            throw new Error(clock.format(atMs))
        }
      },
    ),
    { numRuns: 100 },
  )
})

t.test('across the change to summer time the ticks keep to the clock', async t => {
  const ticks = timeTicks(berlin, at('2025-03-29T21:00Z'), at('2025-03-30T21:00Z'), 10)
  t.equal(ticks.map(({ text }) => text).join(), 'Sun 30 Mar,03:00,06:00,09:00,12:00,15:00,18:00,21:00')
  t.equal(ticks[1]?.atMs, at('2025-03-30T01:00Z'), 'three o’clock comes two hours after midnight')
  const autumn = timeTicks(berlin, at('2025-10-25T21:00Z'), at('2025-10-26T23:00Z'), 14)
  t.equal(autumn.filter(({ text }) => text === '02:00').length, 1, 'the repeated hour has one tick')
})

t.test('days, weeks and months', async t => {
  const texts = (from: string, to: string, countMax: number) =>
    timeTicks(berlin, at(from), at(to), countMax).map(({ text }) => text)
  t.strictSame(texts('2026-11-16T12:00Z', '2026-11-23T12:00Z', 8).slice(0, 2), ['17 Nov', '18 Nov'])
  t.strictSame(texts('2026-10-24T12:00Z', '2026-11-23T12:00Z', 6), ['26 Oct', '2 Nov', '9 Nov', '16 Nov', '23 Nov'])
  t.strictSame(texts('2025-11-23T12:00Z', '2026-11-23T12:00Z', 5), ['2026', 'Apr', 'Jul', 'Oct'])
})

t.test('a line is broken only at gaps', async t => {
  const { timesMs, lines } = breakAtGaps([0, 60, 120, 600, 660], [[1, 2, 3, 4, 5]], 150)
  t.strictSame(timesMs, [0, 60, 120, 360, 600, 660])
  t.strictSame(lines, [[1, 2, 3, null, 4, 5]])
  t.strictSame(breakAtGaps([0, 600], [[1, 2]], null).lines, [[1, 2]], 'not while no interval is known')
  t.strictSame(breakAtGaps([], [[], []], 10), { timesMs: [], lines: [[], []] })
  t.strictSame(lonePlaces([1, null, 2, 3, null, 4]), [0, 5])
  const one = breakAtGaps([0, 60, 600], [[1, 2, 3]], 150)
  const joined = joinColumns([one, breakAtGaps([30, 60], [[4, 5]], 150)])
  t.strictSame(joined.timesMs, [0, 30, 60, 330, 600])
  t.strictSame(joined.lines, [
    [1, undefined, 2, null, 3],
    [undefined, 4, 5, undefined, undefined],
  ])
  t.strictSame(joined.lines.map(lonePlaces), [[4], []], 'a value between two of another line is not alone')
})

t.test('an axis has the decimals of its steps and begins at 0 for amounts', async t => {
  const texts = (splits: number[], decimals: number) => splits.map(value => axisText(value, splits, decimals))
  t.strictSame(texts([0, 2.5, 5], 0), ['0.0', '2.5', '5.0'])
  t.strictSame(texts([-10, 0, 10], 1), ['−10', '0', '10'])
  t.strictSame(texts([20.2, 20.4, 20.6], 1), ['20.2', '20.4', '20.6'])
  t.strictSame(texts([0, 0.1 + 0.2], 1), ['0.0', '0.3'])
  const content = { columns: { timesMs: [], lines: [] }, lines: [], decimals: 0 }
  t.ok(valueRange(0, 1, content)[0] < 0)
  t.strictSame(valueRange(0, 0, { ...content, isFromZero: true }), [0, 5])
  t.strictSame(valueRange(150, 200, { ...content, isFromZero: true }), [0, 212])
  t.strictSame(valueRange(-200, -100, { ...content, isFromZero: true }), [-212, 0])
  t.strictSame(valueRange(-100, 100, { ...content, isFromZero: true }), [-112, 112])
})

t.test('an axis of values has four or five round ticks', async t => {
  t.strictSame(valueTicks(18.3, 24.9), [19.5, 21, 22.5, 24])
  t.strictSame(valueTicks(0, 100), [0, 25, 50, 75, 100])
  t.strictSame(valueTicks(-7, 12.4), [-5, 0, 5, 10])
  t.strictSame(valueTicks(5, 5), [])
  const ends = fc.tuple(
    fc.double({ min: -2000, max: 2000, noNaN: true }),
    fc.double({ min: 0.01, max: 5000, noNaN: true }),
  )
  fc.assert(
    fc.property(ends, ([low, span]) => {
      const ticks = valueTicks(low, low + span)
      const slack = span / 1e6
      return (
        ticks.length >= 3 && ticks.length <= 5 && ticks.every(tick => tick >= low - slack && tick <= low + span + slack)
      )
    }),
  )
})

t.test('a metric has one colour that no other line of a chart shares', async t => {
  const known = ['temperature', 'humidity', 'pressure', 'battery_voltage', 'battery_percentage', 'dew_point']
  t.equal(new Set(known.map(metricColour)).size, known.length)
  t.strictSame(coloursOf(known), known.map(metricColour))
  t.strictSame(coloursOf(['co2', 'humidity']), [metricColour('co2'), metricColour('humidity')])
  const same = coloursOf(Array.from({ length: 8 }, () => 'temperature'))
  t.equal(same[0], metricColour('temperature'))
  t.equal(new Set(same).size, 8)
})

t.test('the colours of lines stand out from the cards of both schemes', async t => {
  const [charts, base] = ['charts/charts.css', 'theme/base.css'].map(path =>
    readFileSync(new URL(`../../../web/${path}`, import.meta.url), 'utf8'),
  )
  for (const [place, card] of ['#ffffff', '#1b1a22'].entries()) {
    t.match(base, new RegExp(`--card: ${place === 0 ? '#fff' : card};`))
    for (let line = 1; line <= 8; line++) {
      const colour = [...(charts ?? '').matchAll(new RegExp(`--line-${line}: (#\\w{6});`, 'g'))][place]?.[1] ?? ''
      t.ok(contrast(colour, card) >= 4.5, `${colour} on ${card}`)
    }
  }
})

/** The ratio of WCAG 2. */
function contrast(...colours: [string, string]): number {
  const [less = 0, more = 0] = colours.map(luminance).sort((a, b) => a - b)
  return (more + 0.05) / (less + 0.05)
}

function luminance(colour: string): number {
  const parts = [1, 3, 5].map(place => Number.parseInt(colour.slice(place, place + 2), 16) / 255)
  const [red = 0, green = 0, blue = 0] = parts.map(part =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  )
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

t.test('the month begins on the clock of the page', async t => {
  const month = monthUpTo(at('2026-03-31T22:30Z'), berlin)
  t.strictSame(month, { fromMs: at('2026-03-31T22:00Z'), toMs: at('2026-03-31T22:30Z') })
  t.equal(monthUpTo(at('2026-03-31T12:00Z'), berlin).fromMs, at('2026-02-28T23:00Z'))
})

t.test('the nearest point', async t => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 1 }),
      fc.integer({ min: -100, max: 1100 }),
      (times, asked) => {
        const sorted = times.sort((a, b) => a - b)
        const place = nearestPlace(sorted, asked)
        const best = Math.min(...sorted.map(time => Math.abs(time - asked)))
        return place !== undefined && Math.abs((sorted[place] as number) - asked) === best
      },
    ),
  )
  t.equal(nearestPlace([], 5), undefined)
})

t.test('the range stands in the address and comes out of it again', async t => {
  t.strictSame(readRange(''), { preset: '24h' })
  t.strictSame(readRange('?range=30d&a=1'), { preset: '30d' })
  for (const text of ['range=1h', 'range=constructor', 'from=x&to=y', 'from=2026-01-02T00:00Z&to=2026-01-01T00:00Z']) {
    t.strictSame(readRange(text), { preset: '24h' }, text)
  }
  t.strictSame(readRange('from=2024-01-01T00:00Z&to=2026-01-01T00:00Z'), { preset: '24h' }, 'longer than may be asked')
  t.strictSame(readRangeOf(new URLSearchParams('range=1h'), ['1h', '24h']), { preset: '1h' }, 'where the page has it')
  const window = { fromMs: at('2026-11-20T06:00Z'), toMs: at('2026-11-21T07:30Z') }
  t.equal(writeRange(window), 'from=2026-11-20T06:00Z&to=2026-11-21T07:30Z')
  t.strictSame(readRange(writeRange(window)), window)
  t.strictSame(readRange(writeRange({ preset: '7d' })), { preset: '7d' })
})

t.test('zoom, pan and selection stay within bounds, whatever came before', async t => {
  const nowMs = at('2026-11-23T12:00Z')
  const step = fc.oneof(
    fc.record({
      factor: fc.double({ min: 0.01, max: 100, noNaN: true }),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    fc.record({ pan: fc.double({ min: -5, max: 5, noNaN: true }) }),
    fc.record({ one: fc.integer({ min: 0, max: nowMs }), other: fc.integer({ min: 0, max: nowMs }) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), steps => {
      let window = windowOf({ preset: '24h' }, nowMs)
      for (const step of steps) {
        if ('pan' in step) window = pan(window, step.pan, nowMs)
        else if ('one' in step) window = select(step.one, step.other, nowMs)
        else window = zoom(window, step.factor, window.fromMs + step.share * (window.toMs - window.fromMs), nowMs)
        const spanMs = window.toMs - window.fromMs
        if (spanMs < spanMsMin || spanMs > spanMsMax || window.toMs > nowMs + minuteMs)
          throw new Error(JSON.stringify(window))
        if (JSON.stringify(readRange(writeRange(window))) !== JSON.stringify(window))
          throw new Error(writeRange(window))
      }
    }),
  )
  const window = { fromMs: nowMs - 4 * hourMs, toMs: nowMs - 2 * hourMs }
  const centreMs = nowMs - 3 * hourMs
  t.strictSame(zoom(window, 0.5, centreMs, nowMs), { fromMs: centreMs - 30 * minuteMs, toMs: centreMs + 30 * minuteMs })
  t.strictSame(pan(window, -0.5, nowMs), { fromMs: nowMs - 5 * hourMs, toMs: nowMs - 3 * hourMs })
})

t.test('the step leaves at most so many pieces', async t => {
  t.equal(stepOf({ fromMs: 0, toMs: hourMs }, 700), 60)
  t.equal(stepOf({ fromMs: 0, toMs: 7 * dayMs }, 700), 900)
  t.equal(stepOf({ fromMs: 0, toMs: 366 * dayMs }, 700), 86_400)
})

t.test('paths restart after a gap and have a dot for a lone value', async t => {
  t.equal(linePath([1, 2, null, 4, null].map((value, place): Spot => [place, value])), 'M0 1L1 2M3 4h0')
  t.equal(linePath([]), '')
  const spots = (...values: (number | null)[]) => values.map((value, place): Spot => [place, value])
  const [lower, upper] = [spots(5, 5, null, 5), spots(1, 1, 1, 1)]
  t.equal(areaPath(lower, upper), 'M0 1L1 1L1 5L0 5ZM3 1L3 5Z')
  t.strictSame(extentOf([3, null, -1, undefined]), [-1, 3])
  t.equal(extentOf([null]), undefined)
  t.equal(linearScale([0, 10], [100, 0])(2.5), 75)
  t.equal(linearScale([5, 5], [0, 100])(5), 50)
})

t.test('labels are moved apart, in order and within bounds', async t => {
  t.strictSame(spreadLabels([10, 11, 50], 10, 0, 100), [10, 20, 50])
  t.strictSame(spreadLabels([99, 98], 10, 0, 100), [100, 90])
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 8 }), wished => {
      const places = spreadLabels(wished, 12, 0, 100)
      const sorted = [...places].sort((a, b) => a - b)
      return (
        sorted.every((place, i) => i === 0 || place - (sorted[i - 1] as number) >= 12 - 1e-9) &&
        sorted.every(place => place <= 100)
      )
    }),
  )
})

t.test("dates use the page's clock, and an invalid one is named", async t => {
  const nowMs = at('2026-11-24T12:00Z')
  const chosen = (from: string, to: string) => customWindow(from, to, berlin, nowMs)
  t.strictSame(chosen('2026-03-28T12:00', '2026-03-29T12:00'), {
    fromMs: at('2026-03-28T11:00Z'),
    toMs: at('2026-03-29T10:00Z'),
  })
  t.equal(localMinute(at('2026-03-29T10:00Z'), berlin), '2026-03-29T12:00')
  t.equal(chosen('', '2026-03-29T12:00'), 'Enter both times.')
  t.equal(chosen('2026-03-29T12:00', '2026-03-29T12:00'), 'The end must be after the start.')
  t.equal(chosen('2026-11-24T12:00', '2026-11-24T13:01'), 'The end is in the future.')
  t.equal(chosen('2026-11-24T12:00', '2026-11-24T12:09'), 'A range has at least 10 minutes.')
  t.equal(chosen('2025-11-22T12:59', '2026-11-23T13:00'), 'A range has at most 366 days.')
  const fault = (search: string) => addressFault(new URLSearchParams(search))
  t.equal(fault('from=2026-11-23T10:00Z&to=2026-11-23T11:00Z'), undefined)
  t.equal(fault('range=7d'), undefined)
  const short = 'from=2026-11-23T10:00Z&to=2026-11-23T10:05Z'
  for (const search of ['from=2026-11-23T10:00Z', 'from=yesterday&to=today', short]) {
    t.match(fault(search), /^The range in the address cannot be shown/, search)
  }
})
