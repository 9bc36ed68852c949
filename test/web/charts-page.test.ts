/** The page with lines of several devices and metrics in one chart. */

import type { Page } from 'playwright-core'
import t from 'tap'
import { createTimes } from '../../theme/times.ts'
import { buildWeb } from '../../web/build.ts'
import { chartPath, chosenLines, linesMax } from '../../web/pages/charts/chosen-lines.ts'
import { type DrawnLine, linePanels, lineTable, lookOf } from '../../web/pages/charts/line-panels.ts'
import { quantitiesOf } from '../../web/text/quantities.ts'
import { becomes } from '../support/becomes.ts'
import { openBrowser } from '../support/browser.ts'
import { charts, desk, inBrowser, inspect, phone, spoken, textOf } from '../support/browser-page.ts'
import { startService } from '../support/service.ts'

const minuteMs = 60_000
const stepMs = 10 * minuteMs
const quantities = quantitiesOf()

function line(place: number, device: string, metric: string, values: readonly number[]): DrawnLine {
  const timesMs = values.map((_, row) => row * stepMs)
  return { place, device, metric, quantity: quantities.of(metric), timesMs, values }
}

await buildWeb()
const service = await startService(t)
const { url } = service
const startMs = Math.floor(Date.now() / minuteMs) * minuteMs - 20 * 60 * minuteMs
const rows = ['porch', 'attic', 'cellar'].flatMap((device, place) =>
  Array.from({ length: 120 }, (_, row) => {
    const at = new Date(startMs + row * stepMs).toISOString()
    return `${at},${device},${(10 + 4 * place + 3 * Math.sin(row / 12)).toFixed(2)},${50 - 5 * place},${1000 + row / 20}`
  }),
)
for (const device of ['porch', 'attic', 'cellar']) await service.addDevice(device, { expected_interval_seconds: 600 })
await service.import(`timestamp,device,temperature,humidity,pressure\n${rows.join('\n')}\n`)
const browser = await openBrowser()
t.teardown(() => browser.close())

const chosen = (page: Page) => page.getByRole('list', { name: 'Lines' }).locator('li')

t.test('lines are added and removed, and the address has them', async t => {
  await inBrowser(t, browser, desk, async page => {
    await page.goto(`${url}/charts`)
    await page.getByText('Choose a device and one of its metrics.').waitFor()
    await inspect(t, page, 'nothing chosen')
    await page.getByLabel('Device', { exact: true }).fill('porch')
    await page.getByLabel('Device', { exact: true }).press('Tab')
    await page.getByRole('combobox', { name: 'Metric' }).selectOption('Humidity')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await charts(page).waitFor()
    t.equal(new URL(page.url()).search, '?line=humidity%3Aporch')
    await page.getByRole('combobox', { name: 'Metric' }).selectOption('Temperature')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await becomes(t, () => chosen(page).count(), 2)
    await becomes(t, () => textOf(page.locator('.panel h3').first()), /Left: %; right: °C/)
    await charts(page).focus()
    await page.keyboard.press('End')
    await becomes(t, () => spoken(page), /porch, humidity 50 %, .*porch, temperature \d+\.\d °C/)
    await page.getByRole('button', { name: 'Remove porch, humidity' }).click()
    await becomes(t, () => chosen(page).count(), 1)
    t.equal(new URL(page.url()).search, '?line=temperature%3Aporch')
    await page.goBack()
    await becomes(t, () => chosen(page).count(), 2, 'the way back')
  })
})

const all = [
  ['temperature', 'porch'],
  ['temperature', 'attic'],
  ['temperature', 'cellar'],
  ['humidity', 'porch'],
  ['humidity', 'attic'],
  ['pressure', 'porch'],
  ['pressure', 'attic'],
  ['pressure', 'cellar'],
  ['humidity', 'cellar'],
].map(([metric = '', device = '']) => ({ metric, device }))

for (const [name, options] of Object.entries({ desk, phone })) {
  t.test(`${name}: a link shows eight lines`, async t => {
    await inBrowser(t, browser, options, async page => {
      await page.goto(`${url}${chartPath(all)}`)
      await becomes(t, () => page.locator('.panel').count(), 2)
      await becomes(t, () => chosen(page).count(), 8)
      await page.getByText('Only the first 8 lines of the address are shown.').waitFor()
      await becomes(t, () => page.getByRole('button', { name: 'Add', exact: true }).count(), 0)
      await page.getByRole('button', { name: /Show as table/ }).click()
      await becomes(t, () => page.locator('.twin thead th').count(), 9)
      await page.getByRole('button', { name: /Hide table/ }).click()
      await inspect(t, page, `eight lines, ${name}`)
    })
  })
}

t.test('what is not there is said', async t => {
  await inBrowser(t, browser, desk, async page => {
    const lines = [
      { metric: 'temperature', device: 'nowhere' },
      { metric: 'co2', device: 'porch' },
      { metric: 'temperature', device: 'porch' },
    ]
    await page.goto(`${url}${chartPath(lines)}`)
    await charts(page).waitFor()
    await becomes(t, () => page.getByText(/there is no such device/).count(), 2)
    await page.goto(`${url}${chartPath(lines)}&from=2020-01-01T00:00Z&to=2020-01-02T00:00Z`)
    await page.getByText('There are no readings in this range.').waitFor()
    await inspect(t, page, 'nothing there')
  })
})

t.test('the address holds the lines', async t => {
  const lines = [
    { metric: 'temperature', device: 'porch' },
    { metric: 'humidity', device: 'a:b, c' },
  ]
  t.strictSame(chosenLines(new URL(chartPath(lines), 'http://x').searchParams), lines)
  const fields = (...texts: string[]) => new URLSearchParams(texts.map((text): [string, string] => ['line', text]))
  t.strictSame(chosenLines(fields('temperature', ':porch', 'Temperature:porch', 'temperature:')), [])
  t.equal(chosenLines(fields('co2:a', 'co2:a')).length, 1)
  t.equal(chosenLines(fields(...Array.from({ length: 12 }, (_, place) => `co2:${place}`))).length, linesMax)
})

t.test('two units have an axis each, and each further one a panel', async t => {
  const drawn = [
    line(0, 'porch', 'temperature', [1, 2, 3]),
    line(1, 'porch', 'humidity', [50, 51, 52]),
    line(3, 'attic', 'temperature', [4, 5, 6]),
    line(4, 'attic', 'pressure', [1000, 1001, 1002]),
  ]
  const [main, small, ...others] = linePanels(drawn, stepMs)
  t.strictSame(others, [])
  t.equal(main?.title, 'Left: °C; right: %')
  t.strictSame(
    main?.content.lines.map(({ colour, isRight }) => [colour, isRight]),
    [
      ['--line-1', false],
      ['--line-4', false],
      ['--line-2', true],
    ],
  )
  t.match(small, { title: 'hPa', content: { right: 'room' } })
  t.strictSame(
    main?.readouts.map(({ textAt }) => textAt?.(stepMs)),
    ['2.0\u202f°C', '5.0\u202f°C', '51\u202f%'],
  )
  t.equal(main?.readouts[0]?.textAt?.(20 * stepMs), null)
  t.equal(linePanels(drawn.slice(0, 1), stepMs)[0]?.content.right, undefined)
  t.strictSame(linePanels([], stepMs), [])
  const table = lineTable(drawn, { fromMs: 0, toMs: 10 * stepMs }, createTimes('UTC'))
  t.equal(table.columns[0]?.name, 'porch, temperature, °C')
  t.strictSame(table.rows[0]?.cells, [3, 52, 6, 1002])
})

t.test('no two lines have the same dashes', async t => {
  const dashes = Array.from({ length: linesMax }, (_, place) => lookOf(place).dash.join())
  t.equal(new Set(dashes).size, linesMax)
})
