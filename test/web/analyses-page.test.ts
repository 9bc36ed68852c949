/** The time that the analyses on the page of a device are of: chosen on the page, and in its address. */

import t from 'tap'
import { buildWeb } from '../../web/build.ts'
import {
  analysesArgument,
  analysesQuery,
  analysesWords,
  readAnalysesRange,
} from '../../web/pages/device/analyses-range.ts'
import { becomes } from '../support/becomes.ts'
import { openBrowser } from '../support/browser.ts'
import { charts, desk, inBrowser, inspect, phone, region, textOf, unfold } from '../support/browser-page.ts'
import { startService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

await buildWeb()
const service = await startService(t)
const endMs = Math.floor(Date.now() / hourMs) * hourMs
await service.addDevice('porch', { expected_interval_seconds: 600 })
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

for (const [name, options] of Object.entries({ desk, phone })) {
  t.test(`${name}: what the analyses are of is chosen`, async t => {
    await inBrowser(t, browser, options, async page => {
      await page.goto(`${service.url}/device/porch`)
      await charts(page).waitFor()
      const seasonality = region(page, 'Seasonality')
      await unfold(seasonality)
      await becomes(t, () => textOf(seasonality), /What the readings so far say of each metric/)
      const choice = page.getByLabel('Analyses of', { exact: true })
      await choice.selectOption('the last 7 days')
      await becomes(t, () => textOf(region(page, 'Seasonality')), /What the last 7 days say of each metric/)
      t.equal(new URL(page.url()).searchParams.get('analyses'), '7d')
      await inspect(t, page, `seven days, ${name}`)
      const minute = (atMs: number) => `${new Date(atMs).toISOString().slice(0, 16)}Z`
      const range = `from=${minute(endMs - 3 * dayMs)}&to=${minute(endMs - 2 * dayMs)}`
      await page.goto(`${service.url}/device/porch?analyses=charts&${range}`)
      await unfold(region(page, 'Seasonality'))
      await becomes(t, () => textOf(region(page, 'Seasonality')), /What the readings in the range of the charts say/)
      await becomes(t, () => textOf(region(page, 'Seasonality')), /Daily cycles appear after three days of readings\./)
      await inspect(t, page, `the range of the charts, ${name}`)
    })
  })
}

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
