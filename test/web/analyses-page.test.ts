/** The time that the analyses on the page of a device are of: chosen on the page, and in its address. */

import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { buildWeb } from '../../web/build.ts'
import {
  analysesArgument,
  analysesQuery,
  analysesWords,
  readAnalysesRange,
} from '../../web/pages/device/analyses-range.ts'
import { becomes } from '../support/becomes.ts'
import { openBrowser } from '../support/browser.ts'
import { desk, inBrowser, inspect, phone, region, textOf, unfold } from '../support/browser-page.ts'
import { startService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

await buildWeb()
const service = await startService(t)
const endMs = Math.floor(Date.now() / hourMs) * hourMs
await service.addDevice('porch', { expected_interval_seconds: 600, profile: 'weather' })
const rows = Array.from({ length: 12 * 144 }, (_, row) => {
  const atMs = endMs - 12 * dayMs + row * 600_000
  // A cycle of the day, from the fifth day on.
  const wave = row < 4 * 144 ? Math.sin(row * row) : 5 * Math.sin((2 * Math.PI * atMs) / dayMs)
  return `${new Date(atMs).toISOString()},porch,${(15 + wave).toFixed(2)},50,1010`
})
await service.import(`timestamp,device,temperature,humidity,pressure\n${rows.join('\n')}\n`)
// Before, an answer would be of a part of them, and is kept as long as the device is expected to send nothing new.
await waitFor('the readings are applied', async () =>
  (await (await fetch(`${service.url}/metrics`)).text()).includes('\nbarograph_lag_readings 0\n'),
)
const browser = await openBrowser()
t.teardown(() => browser.close())

const minute = (atMs: number) => `${new Date(atMs).toISOString().slice(0, 16)}Z`
const dates = (fromDay: number, toDay: number) =>
  `analyses=charts&from=${minute(endMs - fromDay * dayMs)}&to=${minute(endMs - toDay * dayMs)}`
/** Of a select its label has the texts of the options too, and is no exact name of it. */
const choiceOf = (page: Page) => page.getByRole('combobox', { name: 'Analyses of', exact: true })

for (const [name, options] of Object.entries({ desk, phone })) {
  t.test(`${name}: what the analyses are of is chosen`, async t => {
    await inBrowser(t, browser, options, async page => {
      await page.goto(`${service.url}/device/porch`)
      const seasonality = region(page, 'Seasonality')
      await unfold(seasonality)
      await becomes(t, () => textOf(seasonality), /What the readings so far say of each metric/)
      await choiceOf(page).selectOption('the last 7 days')
      await becomes(t, () => textOf(seasonality), /What the last 7 days say of each metric/)
      t.equal(new URL(page.url()).searchParams.get('analyses'), '7d')
      await becomes(t, () => textOf(region(page, 'Weather')), /of the last 7 days\./)
      await becomes(t, () => textOf(region(page, 'What was unusual')), /in the last 7 days/)
      await inspect(t, page, `seven days, ${name}`)
      await page.goto(`${service.url}/device/porch?${dates(40, 35)}`)
      await becomes(t, () => textOf(seasonality), /There are no readings in the range of the charts\./)
      await page.goto(`${service.url}/device/porch?${dates(3, 2)}`)
      await unfold(seasonality)
      await becomes(t, () => textOf(seasonality), /What the readings in the range of the charts say/)
      await becomes(t, () => textOf(seasonality), /Daily cycles appear after three days of readings\./)
    })
  })
}

/** What each section says, and what it reads once it is opened. */
const folds = {
  Weather: { says: /How they are computed/, reads: 'domain' },
  'What was unusual': { says: /Nothing was unusual|Temperature/, reads: 'anomalies' },
  Completeness: { says: /How it is computed/, reads: undefined },
  Seasonality: { says: /What the readings in the range of the charts say/, reads: undefined },
  Correlations: { says: /Correlations of hourly means/, reads: undefined },
} as const

async function openAndClose(t: Test, page: Page, name: keyof typeof folds): Promise<void> {
  const section = region(page, name)
  for (let turn = 0; turn < 4; turn++) {
    await unfold(section)
    await becomes(t, () => textOf(section), folds[name].says, name)
    await section.locator('summary').click()
    await becomes(t, () => section.locator('details[open]').count(), 0, `${name} closes`)
  }
}

t.test('each section opens and closes with any dates, and is of them', async t => {
  await inBrowser(t, browser, desk, async page => {
    const asked: URL[] = []
    page.on('request', request => asked.push(new URL(request.url())))
    // Of the first days, of some, of all of it, and of more than there is.
    for (const [fromDay, toDay] of [
      [13, 9],
      [11, 4],
      [12, 0],
      [60, 0],
    ] as const) {
      await page.goto(`${service.url}/device/porch?${dates(fromDay, toDay)}`)
      await choiceOf(page).waitFor()
      for (const name of Object.keys(folds) as (keyof typeof folds)[]) {
        await openAndClose(t, page, name)
        const { reads } = folds[name]
        if (reads === undefined) continue
        const last = asked.findLast(({ pathname }) => pathname.startsWith(`/api/${reads}/`))
        const start = Date.parse(minute(endMs - fromDay * dayMs))
        t.equal(last?.searchParams.get('start'), String(start), `${name} is asked for from day ${fromDay}`)
      }
    }
  })
})

t.test('the address holds what the analyses are of', async t => {
  const read = (text: string) => readAnalysesRange(new URLSearchParams(text))
  t.strictSame([read(''), read('analyses=90d'), read('analyses=charts')], ['30d', '90d', 'charts'])
  t.strictSame([read('analyses=toString'), read('analyses=4d')], ['30d', '30d'])
  t.strictSame([analysesArgument('30d'), analysesArgument('charts')], [undefined, 'charts'])
})

t.test('an analysis is asked for days, or for the range of the charts', async t => {
  const window = { fromMs: 10 * dayMs + 1, toMs: 11 * dayMs + 1 }
  t.strictSame(analysesQuery('30d', window, true), [])
  t.strictSame(analysesQuery('365d', window, true), ['days=365'])
  t.strictSame(analysesQuery('charts', window, false), [`start=${window.fromMs}`, `end=${window.toMs}`])
  t.strictSame(analysesQuery('charts', window, true), [`start=${10 * dayMs}`, `end=${11 * dayMs}`])
})

t.test('sentences name it', async t => {
  const window = { days: 30, truncated: false } as Parameters<typeof analysesWords>[1]
  t.equal(analysesWords('30d', window).during, 'in the last 30\u202fdays')
  t.equal(analysesWords('30d', { ...window, truncated: true }).of, 'the readings so far')
  t.equal(analysesWords('charts', { ...window, truncated: true }).during, 'in the range of the charts')
})
