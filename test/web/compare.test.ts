/** Two devices side by side, by the kinds of their metrics: words, charts, tables and files. */

import t from 'tap'
import { freePort } from '../../store/process/free-port.ts'
import { createTimes } from '../../theme/times.ts'
import { buildWeb } from '../../web/build.ts'
import { localMinute } from '../../web/charts/custom-range.ts'
import { agreementSentences, directionSentences, stateSentences } from '../../web/pages/compare/agreement-sentences.ts'
import { type Agreement, type Comparison, furtherOf } from '../../web/pages/compare/answers.ts'
import { askedNames, comparedNames } from '../../web/pages/compare/compared-names.ts'
import { comparedTable } from '../../web/pages/compare/compared-table.ts'
import { metricPanels } from '../../web/pages/compare/comparison-panels.ts'
import { noPreferences, preferences } from '../../web/text/preferences.ts'
import { builtInQuantities, quantitiesOf } from '../../web/text/quantities.ts'
import { createZone } from '../../web/text/zone.ts'
import { becomes, within } from '../support/becomes.ts'
import { openBrowser } from '../support/browser.ts'
import { charts, desk, inBrowser, inspect, phone, region, textOf } from '../support/browser-page.ts'
import { startService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'
import { addMany } from './device-kinds-world.ts'

const hourMs = 3_600_000
const plain = (texts: readonly string[]) => texts.join(' ').replaceAll('\u202f', ' ')
const quantities = quantitiesOf({
  rain_total: { title: 'Rain in total', kind: 'counter', unit: 'mm', decimals: 1 },
  wind_direction: { title: 'Wind direction', kind: 'direction', unit: '°', decimals: 0 },
})
const stats: Agreement = {
  n: 2,
  bias: 0.5,
  sd_diff: 0.1,
  mae: 0.5,
  rmse: 0.5,
  pearson: null,
  n_eff: null,
  p_value: null,
  spearman: null,
  limits_of_agreement: [-1, 2],
  slope: null,
  intercept: null,
  lag_seconds: null,
  lag_r: null,
  verdict: null,
  reason: 'constant',
}
const point = (hour: number, v: number) => ({ t: hour * hourMs, v, d: '2026-01-01 00:00' })
const pair = { a: 'roof', b: 'porch' }

await buildWeb()
const environment = { TIME_ZONE: 'Europe/Berlin', PORT: String(await freePort()) }
const service = await startService(t, { environment })
const browser = await openBrowser()
t.teardown(() => browser.close())

const names = ['co2', 'wind_direction', 'rain_total', 'rain', 'door']
const endMs = Math.floor(Date.now() / hourMs) * hourMs

/** Three days, a reading every 10 minutes; the second device has other values, and no air pressure. */
function history(device: string, place: number): string {
  const lines: string[] = []
  for (let atMs = endMs - 72 * hourMs; atMs <= endMs; atMs += hourMs / 6) {
    const hours = (atMs - endMs) / hourMs + 72
    const wave = Math.sin((2 * Math.PI * hours) / 24)
    const values = [
      600 + 100 * wave + 40 * place,
      (350 + 20 * place + 5 * wave) % 360,
      (hours * (1 + place)).toFixed(2),
      hours % 2 < 1 ? 0.2 : 0,
      Math.floor(hours / 6) % 2 === place ? 1 : 0,
    ]
    lines.push(`${new Date(atMs).toISOString()},${device},${20 + wave},50,,${values.join()}`)
  }
  return lines.join('\n')
}

for (const name of ['roof', 'porch']) await service.addDevice(name, { expected_interval_seconds: 600 })
await service.addDevice('plain', { expected_interval_seconds: 600 })
const header = `timestamp,device,temperature,humidity,pressure,${names.join()}`
await addMany(service, endMs)
await service.import(`${header}\n${history('roof', 0)}\n${history('porch', 1)}\n`)
const compared = async () => {
  const answer = await fetch(`${service.url}/api/compare_data?a=roof&b=porch&preset=3d&t=1`)
  return (await answer.json()) as Comparison
}
// Before, an answer would be of a part of them, and is kept as long as the devices are expected to send nothing new.
await waitFor('the readings are applied', async () =>
  (await (await fetch(`${service.url}/metrics`)).text()).includes('\nbarograph_lag_readings 0\n'),
)
await waitFor('all can be compared', async () => {
  const answer = await compared()
  return answer.temperature?.a.length >= 71 && furtherOf(answer).length === names.length
})

for (const [name, options] of Object.entries({ desk, phone })) {
  t.test(`${name}: every metric that both have, by its kind`, async t => {
    await inBrowser(t, browser, options, async page => {
      await page.goto(`${service.url}/compare?a=roof&b=porch&preset=3d`)
      const says = (section: string, pattern: RegExp) =>
        becomes(t, () => textOf(region(page, section)), pattern, section)
      await says('CO₂', /roof reads 40 ppm less than porch on average\./)
      await says('Wind direction', /roof points 20° anticlockwise of porch on average\./)
      await says('Rain in total: increase by hour', /roof has 1\.0 mm less an hour than porch on average\./)
      await says('Rain: sum by hour', /roof and porch have the same on average\./)
      await says('Door open', /Both were in the same state 0 % of the 3 days/)
      await says('Door open', /off\s+50 %\s*1 day 12 hours/)
      await becomes(t, () => region(page, 'Pressure').count(), 0, 'what neither has is not there')
      await becomes(t, () => charts(page).count(), 6)
      await inspect(t, page, `compare by kind, ${name}`)
      const wind = region(page, 'Wind direction')
      await wind.getByRole('button', { name: /Show as table/ }).click()
      const { metric } = furtherOf(await compared()).find(one => one.name === 'wind_direction') ?? {}
      const newest = metric !== undefined && 'diff' in metric ? metric.diff.at(-1)?.v : undefined
      await becomes(t, () => wind.locator('tbody tr td data').nth(2).getAttribute('value'), String(newest))
    })
  })
}

t.test('dates choose the hours that are compared', async t => {
  await inBrowser(t, browser, desk, async page => {
    await page.goto(`${service.url}/compare?a=roof&b=porch&preset=3d`)
    await charts(page).first().waitFor()
    await page.getByRole('button', { name: 'Dates', exact: true }).click()
    const zone = createZone((await compared()).time_zone)
    const [fromMs, toMs] = [endMs - 48 * hourMs, endMs - 24 * hourMs]
    await page.getByLabel('From', { exact: true }).fill(localMinute(fromMs, zone))
    await page.getByLabel('To', { exact: true }).fill(localMinute(toMs, zone))
    await inspect(t, page, 'dates of a comparison')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await becomes(
      t,
      () => textOf(region(page, 'Door open')),
      /Both were in the same state 0 % of the (?:1 day|24 hours) in which both are known/,
    )
    const { searchParams } = new URL(page.url())
    t.equal(Date.parse(searchParams.get('from') ?? ''), fromMs)
    await page.getByRole('button', { name: '3 days', exact: true }).click()
    await becomes(t, () => textOf(region(page, 'Door open')), /0 % of the 3 days/)
  })
})

t.test('the files are as they are measured, whatever is shown', async t => {
  await inBrowser(t, browser, desk, async page => {
    await page.goto(`${service.url}/compare?a=roof&b=porch&preset=3d`)
    const link = page.getByRole('link', { name: 'Download porch by hour as CSV' })
    const linesOf = async () => {
      const file = await fetch(new URL((await link.getAttribute('href')) ?? '', service.url))
      return (await file.text()).trim().split('\r\n')
    }
    await link.waitFor()
    const before = await linesOf()
    const columns = before[0]?.split(',') ?? []
    for (const column of [
      'temperature_mean',
      'co2_mean',
      'wind_direction_mean',
      'rain_total_increase',
      'rain_sum',
      'door_last',
    ]) {
      t.ok(columns.includes(column), column)
    }
    t.equal(before.length, 1 + 72)
    await becomes(t, () => page.locator('.file-note').count(), 0)
    await page.getByRole('button', { name: 'Units', exact: true }).click()
    await page.getByRole('dialog').getByLabel('Temperature', { exact: true }).selectOption({ label: '°F' })
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    await becomes(t, () => textOf(region(page, 'Temperature')), within('°F'))
    await page.locator('.file-note').waitFor()
    await becomes(t, linesOf, before, 'the same file')
  })
})

t.test('a device in another unit and zone: values and times follow, and what stays is said', async t => {
  await inBrowser(t, browser, desk, async page => {
    await page.goto(`${service.url}/device/roof`)
    await becomes(t, () => textOf(page.locator('dl.now')), within('°C'))
    await becomes(t, () => page.locator('.zone-note').count(), 0)
    await page.getByRole('button', { name: 'Units', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Temperature', { exact: true }).selectOption({ label: '°F' })
    await dialog.getByLabel('Times', { exact: true }).selectOption('Asia/Tokyo')
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    await becomes(t, () => textOf(page.locator('dl.now')), /Temperature\s+6[68]\.\d °F/)
    await becomes(
      t,
      () => textOf(page.locator('.zone-note')),
      /zone Asia\/Tokyo\. .* Europe\/Berlin, the zone of the service/,
    )
    const readings = region(page, 'Readings')
    await readings.getByRole('button', { name: /Show as table/ }).click()
    await becomes(t, () => textOf(readings.locator('thead').first()), within('Temperature, °F'))
    await becomes(t, () => textOf(readings.locator('tbody th').first()), /GMT\+9/)
    await becomes(t, () => textOf(region(page, 'Today and earlier days')), within('Temperature, °F'))
    await inspect(t, page, 'a device in other units')
  })
})

t.test('devices that share only the five are compared by these', async t => {
  await service.import(
    `timestamp,device,temperature,humidity,pressure\n${new Date(endMs - hourMs).toISOString()},plain,20,50,1000\n`,
  )
  await inBrowser(t, browser, desk, async page => {
    await page.goto(`${service.url}/compare?a=roof&b=plain&preset=24h`)
    await region(page, 'Temperature').waitFor()
    await becomes(t, () => region(page, 'CO₂').count(), 0)
  })
})

t.test('of 64 metrics twelve are compared, and asked for, until others are chosen', async t => {
  await inBrowser(t, browser, desk, async page => {
    const asking = page.waitForRequest(/\/api\/compare_data/)
    await page.goto(`${service.url}/compare?a=many&b=many&preset=24h`)
    t.match((await asking).url(), /&metrics=probe_01,.*probe_12$/)
    await region(page, 'Probe 12').waitFor()
    await becomes(t, () => page.locator('canvas').count(), 24, 'two of each')
    await page.getByText('12 of 64 metrics are shown').click()
    await page.getByRole('checkbox', { name: 'Probe 01' }).uncheck()
    await page.getByRole('checkbox', { name: 'Probe 64' }).check()
    await region(page, 'Probe 64').waitFor()
    await becomes(t, () => region(page, 'Probe 01').count(), 0)
    await becomes(t, () => page.locator('canvas').count(), 24)
    t.match(page.url(), /metrics=probe_02.*probe_64/)
    const file = page.getByRole('link', { name: 'Download many by hour as CSV' })
    await becomes(t, () => file.getAttribute('href'), /metrics=probe_02.*probe_64/)
    await inspect(t, page, 'many compared')
  })
})

t.test('what is said of amounts, directions and states', async t => {
  const rain = { ...pair, quantity: quantities.of('rain_total') }
  t.match(
    plain(agreementSentences(rain, stats)),
    /^roof has 0\.5 mm more an hour than porch on average\. About 95 % .* −1\.0 and 2\.0 mm\./,
  )
  t.match(plain(agreementSentences(rain, { ...stats, bias: 0.01 })), /^roof and porch have the same on average\./)
  const wind = { ...pair, quantity: quantities.of('wind_direction') }
  const told = (bias: number | null) =>
    plain(directionSentences(wind, { n: 5, bias, mae: 12.4, resultant_length: 0.9 }))
  t.equal(told(20.2), 'roof points 20° clockwise of porch on average. The hourly directions are 12° apart on average.')
  t.match(told(-20.2), /^roof points 20° anticlockwise of porch/)
  t.match(told(0.2), /^roof and porch point the same way on average\./)
  t.match(told(null), /^The differences go all ways alike\./)
  const none = { n: 0, bias: null, mae: null, resultant_length: null }
  t.match(plain(directionSentences(wind, none)), /^There is no hour in which both have a value\./)
  const sames = { known_seconds: 86_400, same_seconds: 43_200, same_share: 0.5 }
  t.equal(plain(stateSentences(sames)), 'Both were in the same state 50 % of the 1 day in which both are known.')
  t.match(plain(stateSentences({ known_seconds: 0, same_seconds: 0, same_share: null })), /no time/)
})

t.test('amounts are bars side by side, directions are points around the compass', async t => {
  const rain = {
    kind: 'counter',
    unit: 'mm',
    a: [point(0, 1), point(1, 2)],
    b: [point(1, 3)],
    diff: [point(1, -1)],
    stats,
  } as const
  const [both] = metricPanels({ ...pair, quantity: quantities.of('rain_total') }, rain as never)
  t.strictSame(
    both?.content.blocks?.map(({ fromMs, toMs, high }) => [fromMs / hourMs, toMs / hourMs, high]),
    [
      [0, 0.5, 1],
      [1, 1.5, 2],
      [1.5, 2, 3],
    ],
  )
  t.equal(both?.content.isFromZero, true)
  const wind = {
    kind: 'direction',
    unit: '°',
    a: [point(0, 350)],
    b: [point(0, 10)],
    diff: [point(0, -20)],
    stats: { n: 1, bias: -20, mae: 20, resultant_length: 1 },
  }
  const [angles, turns] = metricPanels({ ...pair, quantity: quantities.of('wind_direction') }, wind as never)
  t.strictSame(
    [angles?.content.range, turns?.content.range],
    [
      [0, 360],
      [-180, 180],
    ],
  )
  t.ok(
    angles?.content.lines.every(({ width, points }) => width === 0 && points === 'all'),
    'no line crosses north',
  )
  t.strictSame(
    turns?.content.rules?.map(({ value }) => value),
    [-20],
  )
})

t.test('directions are told as everywhere: by the compass, below 360°, with ° without a unit, too', async t => {
  const bare = quantitiesOf({ heading: { title: 'Heading', kind: 'direction', unit: null, decimals: 0 } })
  const names = { ...pair, quantity: bare.of('heading') }
  const metric = {
    kind: 'direction',
    unit: null,
    a: [point(0, 359.7)],
    b: [point(0, -90)],
    diff: [point(0, 89.7)],
    stats: { n: 1, bias: 89.7, mae: 89.7, resultant_length: 1 },
  } as never
  const [both] = metricPanels(names, metric)
  t.strictSame(
    both?.readouts.map(({ values, textAt }) => [values, textAt?.(0)]),
    [
      [[359.7], 'N 0°'],
      [[270], 'W 270°'],
    ],
  )
  const { columns, rows } = comparedTable(names, metric, {
    window: { fromMs: 0, toMs: hourMs },
    times: createTimes('UTC'),
  })
  t.strictSame(
    columns.map(({ name }) => name),
    ['roof', 'porch', 'Difference, °'],
  )
  t.strictSame(rows[0]?.cells, ['N 0°', 'W 270°', 89.7])
  t.match(
    plain(directionSentences(names, { n: 1, bias: 12, mae: 12, resultant_length: 1 })),
    /^roof points 12° clockwise of porch/,
  )
})

t.test('values and differences are in the unit that a person has chosen', async t => {
  t.teardown(() => {
    preferences.value = noPreferences
  })
  preferences.value = { ...noPreferences, temperature_unit: '[degF]' }
  const quantity = builtInQuantities.of('temperature')
  const metric = { unit: '°C', a: [point(0, 20)], b: [point(0, 15)], diff: [point(0, 5)], stats: { ...stats, bias: 5 } }
  const [both, difference] = metricPanels({ ...pair, quantity }, metric)
  t.strictSame(
    both?.readouts.map(({ values }) => values),
    [[68], [59]],
  )
  t.strictSame(difference?.readouts[0]?.values, [9])
  t.strictSame(
    difference?.content.rules?.map(({ value }) => value),
    [9, -1.8, 3.6],
  )
  t.match(
    plain(agreementSentences({ ...pair, quantity }, { ...stats, bias: 5 })),
    /reads 9\.0 °F more .* −1\.8 and 3\.6 °F/,
  )
})

t.test('of many metrics a comparison is asked for twelve, until others are chosen', async t => {
  const value = { v: 1, ts: 1, unit: '' }
  const valuesOf = (...names: string[]) => Object.fromEntries(names.map(name => [name, value]))
  const many = Array.from({ length: 20 }, (_, place) => `m${place}`)
  const [a, b] = [valuesOf('temperature', 'battery_voltage', 'own', ...many), valuesOf('pressure', ...many)]
  t.strictSame(comparedNames(a, b, undefined), ['temperature', 'pressure', ...many], 'of the air those of either')
  t.equal(askedNames(a, b, null), many.slice(0, 10).join(','), 'those of the air are there anyway')
  t.equal(askedNames(a, b, 'm19,gone,m2'), 'm2,m19', 'in the order of the first')
  t.equal(askedNames(a, b, 'pressure'), 'temperature', 'no other one')
  t.equal(
    askedNames(a, valuesOf('pressure', ...many.slice(0, 10)), 'm1'),
    undefined,
    'whoever asks gets the same answer',
  )
  const hours = (count: number) => ({ a: new Array(count).fill(point(0, 1)), b: [] })
  const answer = { temperature: hours(0), humidity: hours(1), pressure: hours(0), old: hours(1), metrics: { old: {} } }
  t.strictSame(comparedNames({}, {}, answer as never), ['humidity', 'old'], 'what the answer has besides')
})
