/** Rules of alerts as sentences and as form fields, in the chosen units, and marks of charts. */

import fc from 'fast-check'
import t from 'tap'
import type { Alert } from '../../../alerts/core/alert.ts'
import { type Condition, serviceFacts } from '../../../alerts/core/condition.ts'
import { NewRule } from '../../../alerts/core/rule.ts'
import { conditionText, ruleText, selectorText, weeklyText } from '../../../web/pages/alerts/alert-words.ts'
import { readForm } from '../../../web/pages/alerts/read-rule.ts'
import { emptyForm, formOf, presetForm, presets } from '../../../web/pages/alerts/rule-form.ts'
import { firingOf, firingPanel, limitsOf } from '../../../web/pages/device/alert-marks.ts'
import { panelOf } from '../../../web/pages/device/panels.ts'
import { noPreferences, preferences } from '../../../web/text/preferences.ts'
import { quantitiesOf } from '../../../web/text/quantities.ts'
import { createTimes } from '../../../web/theme/times.ts'

t.afterEach(() => {
  preferences.value = noPreferences
})

const co2 = { title: 'CO₂', kind: 'gauge', unit: 'ppm', decimals: 0 } as const
const quantities = () => quantitiesOf({ co2 })
const plain = (text: string) => text.replaceAll('\u202f', ' ')
const rule = (condition: object, more: object = {}): NewRule =>
  NewRule.parse({ name: 'A rule', selector: { all: true }, condition, ...more })

t.test('a condition is in the chosen units', async t => {
  const says = (condition: object, text: string) =>
    t.equal(plain(conditionText(rule(condition).condition, quantities())), text)
  const change = { kind: 'change', metric: 'temperature', value: 5, window_seconds: 3600 }
  says({ kind: 'silent' }, 'No reading for longer than usual')
  says({ kind: 'silent', after_seconds: 7200 }, 'No reading for 2 hours')
  says({ kind: 'above', metric: 'temperature', value: 30 }, 'Temperature above 30.0 °C')
  says({ kind: 'below', metric: 'co2', value: 400 }, 'CO₂ below 400 ppm')
  says(change, 'Temperature rises by more than 5.0 °C within 1 hour')
  says({ ...change, value: -5 }, 'Temperature falls by more than 5.0 °C within 1 hour')
  says({ ...change, absolute: true }, 'Temperature changes by more than 5.0 °C within 1 hour')
  says({ kind: 'battery', metric: 'battery_percentage', value: 20 }, 'Battery charge below 20 %')
  says({ kind: 'battery', days: 14 }, 'The battery lasts less than 14 days')
  says({ kind: 'completeness', share: 0.9 }, 'Less than 90 % of the readings of an hour')
  says({ kind: 'suspect', share: 0.1 }, 'More than 10 % of the readings of an hour are suspect')
  says({ kind: 'suspect', share: 0.1, metric: 'co2' }, 'More than 10 % of the CO₂ readings of an hour are suspect')
  const site = { kind: 'site_silent', share: 0.5, count: 3 }
  says(site, 'More than 50 % of the devices, and at least 3 devices, are silent')
  preferences.value = { ...noPreferences, temperature_unit: '[degF]' }
  says({ kind: 'above', metric: 'temperature', value: 30 }, 'Temperature above 86.0 °F')
  says(change, 'Temperature rises by more than 9.0 °F within 1 hour')
  for (const fact of serviceFacts) t.notMatch(conditionText({ kind: 'service', fact }, quantities()), '_', fact)
  const lasting = rule({ kind: 'silent' }, { for_seconds: 600 })
  t.equal(ruleText(lasting, quantities()), 'No reading for longer than usual for 10 minutes')
})

const metric = fc.constantFrom('temperature', 'pressure', 'co2')
/** The values have as many digits as people type. */
const value = fc.integer({ min: -5000, max: 5000 }).map(whole => whole / 10)
const seconds = fc.integer({ min: 1, max: 604_800 })
const share = fc.integer({ min: 0, max: 1000 }).map(whole => whole / 1000)
const hysteresis = value.map(Math.abs)
const change = { kind: fc.constant('change'), metric, window_seconds: fc.integer({ min: 60, max: 604_800 }) }
const conditions: fc.Arbitrary<object> = fc.oneof(
  fc.record({ kind: fc.constant('silent'), after_seconds: seconds }, { requiredKeys: ['kind'] }),
  fc.record({ kind: fc.constantFrom('above', 'below'), metric, value, hysteresis }),
  fc.record({ ...change, value: value.filter(one => one > 0), absolute: fc.boolean(), hysteresis }),
  fc.record({ ...change, value: value.filter(one => one < 0), absolute: fc.constant(false) }),
  fc.record({ kind: fc.constant('battery'), metric: fc.constant('battery_voltage'), value, hysteresis }),
  fc.record({ kind: fc.constant('battery'), days: fc.integer({ min: 1, max: 365 }) }),
  fc.record({ kind: fc.constant('completeness'), share }),
  fc.record({ kind: fc.constant('suspect'), share, metric }, { requiredKeys: ['kind', 'share'] }),
  fc.record(
    { kind: fc.constant('site_silent'), share, count: fc.integer({ min: 1, max: 9 }), after_seconds: seconds },
    { requiredKeys: ['kind', 'share', 'count'] },
  ),
  fc.record({ kind: fc.constant('service'), fact: fc.constantFrom('questdb_away', 'dead_letters', 'clock_stepped') }),
  fc.record({ kind: fc.constant('service'), fact: fc.constant('disk_full'), days: fc.constant(9) }),
  fc.record({ kind: fc.constant('service'), fact: fc.constant('journal_full'), share }),
)
const selectors = fc.constantFrom({ all: true }, { tags: ['site:berlin', 'room:*'] }, { devices: ['porch', 'a, b'] })

t.test('a form gives back the rule that it was made of, whatever the units', async () => {
  const units = fc.record({
    temperature_unit: fc.constantFrom(null, 'Cel' as const, '[degF]' as const),
    pressure_unit: fc.constantFrom(null, "[in_i'Hg]" as const, 'mm[Hg]' as const),
  })
  fc.assert(
    fc.property(conditions, selectors, fc.nat(604_800), units, (condition, selector, for_seconds, chosen) => {
      preferences.value = { ...noPreferences, ...chosen }
      const isService = (condition as Condition).kind === 'service'
      const made = rule(condition, { selector: isService ? null : selector, for_seconds, channels: [3, 1] })
      const read = readForm(formOf(made, quantities()), quantities())
      if (!read.ok) throw new Error(read.sentence)
      // The service takes it, and it is the same.
      const [before, after] = [made, NewRule.parse(read.rule)].map(one => JSON.stringify(rounded(one)))
      if (before !== after) throw new Error(`${before} became ${after}`)
    }),
  )
})

/** A conversion and back may cost the last of ten digits. */
function rounded(one: NewRule): unknown {
  const sorted = Object.entries(one.condition).sort(([a], [b]) => a.localeCompare(b))
  const digits = sorted.map(([name, part]) => [
    name,
    typeof part === 'number' ? Number(part.toPrecision(8)) || 0 : part,
  ])
  return { ...one, condition: digits }
}

t.test('a form names missing fields', async t => {
  const says = (changes: object, sentence: RegExp) =>
    t.match(readForm({ ...emptyForm, name: 'A rule', ...changes }, quantities()), { ok: false, sentence })
  says({ name: ' ' }, /name/)
  says({ covers: 'tags', tags: ' ,' }, /tag/)
  says({ covers: 'devices' }, /device/)
  says({ kind: 'above' }, /limit must be a number/)
  says({ kind: 'change', value: '0' }, /other than 0/)
  says({ kind: 'suspect', share: '101' }, /0 to 100/)
})

t.test('the rules that are offered first are whole', async t => {
  for (const preset of Object.keys(presets)) {
    const read = readForm(presetForm(new URLSearchParams({ preset }), []), quantities())
    t.ok(read.ok && NewRule.safeParse(read.rule).success, preset)
  }
  const given = new URLSearchParams({ device: 'porch', metric: 'co2' })
  t.match(presetForm(given, []), { covers: 'devices', devices: ['porch'], kind: 'above', metric: 'co2' })
  t.match(presetForm(new URLSearchParams({ preset: 'toString' }), []), emptyForm)
})

t.test('selectors and weekly windows are in words', async t => {
  t.equal(selectorText({ all: true }), 'all devices')
  t.equal(selectorText(null), 'the service')
  t.equal(selectorText({ tags: ['site:berlin', 'room:*'] }), 'devices with site:berlin and room:*')
  t.equal(selectorText({ devices: ['a', 'b'] }), 'a and b')
  t.equal(selectorText({ devices: ['a', 'b', 'c', 'd'] }), 'a, b, c and 1 more')
  t.equal(weeklyText([{ days: [6, 7], from: '22:00', until: '06:00' }]), 'Saturdays and Sundays 22:00–06:00')
  t.equal(weeklyText([{ days: [1, 2, 3, 4, 5, 6, 7], from: '00:00', until: '06:00' }]), 'each day 00:00–06:00')
})

const hourMs = 3_600_000
const at = (hour: number) => new Date(hour * hourMs).toISOString()

const unresolved = { fired_at: null, resolved_at: null, resolved_reason: null }
const untouched = { acknowledged_by: null, acknowledged_at: null, silenced_by: null }
const hot = { id: '1', rule_id: 1, rule: 'Too hot', severity: 'warning', state: 'resolved', note: '' } as const
const porch = { device: 'porch', metric: 'temperature', value: 31, opened_at: at(0), flapping: false }
const alert = (more: Partial<Alert>): Alert => ({ ...hot, ...porch, ...unresolved, ...untouched, ...more })

t.test('a chart has the limits of its metric and shades only during its alerts', async t => {
  const window = { fromMs: 10 * hourMs, toMs: 20 * hourMs }
  const firing = firingOf(
    [
      alert({ fired_at: at(15), state: 'firing', severity: 'critical' }),
      alert({ fired_at: at(9), resolved_at: at(11) }),
      alert({ fired_at: at(1), resolved_at: at(2) }),
      alert({ state: 'pending' }),
      alert({ fired_at: at(10.5), resolved_at: at(12), rule: 'Silent', metric: null }),
    ],
    window,
  )
  const shown = firing.map(({ fromMs, toMs, text }) => `${fromMs / hourMs} to ${toMs / hourMs}: ${text}`).join(', ')
  t.equal(shown, '9 to 11: Too hot, 10.5 to 12: Silent, 15 to 20: Too hot', 'what goes on lasts to the end')
  const rules = [
    rule({ kind: 'above', metric: 'temperature', value: 30 }),
    rule({ kind: 'below', metric: 'temperature', value: -90 }, { name: 'Far away' }),
    rule({ kind: 'above', metric: 'co2', value: 30 }),
    rule({ kind: 'above', metric: 'temperature', value: 29 }, { enabled: false }),
    rule({ kind: 'silent' }),
  ]
  const limits = limitsOf(rules)
  preferences.value = { ...noPreferences, temperature_unit: '[degF]' }
  const series = { kind: 'gauge', metric: 'temperature', timesMs: [0, 1], values: [20, 31], gapMs: null } as const
  const times = createTimes('UTC')
  const context = { quantity: quantities().of('temperature'), times, suspects: undefined, stepMs: undefined }
  const panel = panelOf(series, { ...context, alerts: { limits, firing } })
  t.strictSame(panel.content.rules, [{ value: 86, text: 'A rule', isDashed: true }])
  const washes = panel.content.spans?.map(({ fromMs, wash }) => `${fromMs / hourMs}: ${wash}`)
  t.strictSame(washes, ['9: --warn-wash', '15: --bad-wash'])
  const timeline = firingPanel(firing, times)
  const blocks = timeline?.content.blocks?.map(({ low, text }) => `${low} ${text}`)
  t.strictSame(blocks, ['0 Too hot', '1 Silent', '0 Too hot'], 'what is at the same time stands above')
  t.equal(
    timeline?.readouts[0]?.textAt?.(10.75 * hourMs),
    'Too hot (warning, 09:00–11:00), Silent (warning, 10:30–12:00)',
  )
  t.equal(timeline?.readouts[0]?.textAt?.(14 * hourMs), null)
  t.equal(firingPanel([], times), undefined)
})
