/** The status of the service and of its nodes on the admin page, beside made answers: charts of its figures, in each state. */

import type { Page } from 'playwright-core'
import t from 'tap'
import type { RejectionPage } from '../../api/admin/rejection-answers.ts'
import type { StatusHistory } from '../../api/admin/status-history-answer.ts'
import { webFamily } from '../../api/web/web.ts'
import { buildWeb } from '../../web/build.ts'
import { createApp } from '../support/app.ts'
import { becomes } from '../support/becomes.ts'
import { openBrowser } from '../support/browser.ts'
import { desk, inBrowser, inspect, phone, textOf } from '../support/browser-page.ts'
import { goneNode, madeNode, madeStatus as status } from '../support/made-status.ts'
import { waitFor } from '../support/wait-for.ts'

const dayMs = 86_400_000
const patience = { timeout: 60_000 }

/** 24 hours by 4 minutes; two hours of the night nobody ran, and for an hour of late no reading was acknowledged. */
const endMs = Math.floor(Date.now() / 240_000) * 240_000
const points = Array.from({ length: 360 }, (_, place) => {
  const wave = Math.sin(place / 30)
  const ack = place > 335 && place < 350 ? null : 0.6 + wave / 5
  return {
    time: new Date(endMs - dayMs + place * 240_000).toISOString(),
    ack_p50_ms: ack,
    ack_p99_ms: ack === null ? null : 4 * ack + (place % 40) / 10,
    stored: 2000,
    rejected: place % 90 === 0 ? 3 : 0,
    lag_readings: 5,
    lag_seconds: 0.4 + (place % 7) / 10,
    journal_bytes: 1e6,
    rss_bytes: 2.1e8 + 3e7 * wave,
    event_loop_p99_ms: 21,
  }
}).filter((_, place) => place < 60 || place > 90) satisfies StatusHistory['points']

const rejections: RejectionPage = {
  node: { id: madeNode.id, host: madeNode.host },
  since: madeNode.started,
  rejected: 120,
  rejections: [],
  next: 20,
}

const made = { points, status, refusal: undefined as object | undefined, asked: [] as string[] }
t.beforeEach(() => Object.assign(made, { points, status, refusal: undefined, asked: [] }))

await buildWeb()
const app = createApp(webFamily())
app.get('/api/admin/status', (_request, reply) => reply.send(made.status))
app.get('/api/admin/status/history', (request, reply) => {
  made.asked.push(request.url)
  const { hours } = request.query as { hours: string }
  if (made.refusal !== undefined) return reply.code(503).send(made.refusal)
  return reply.send({ hours: Number(hours), step_s: Math.max(10, Number(hours) * 10), points: made.points })
})
app.get('/api/admin/rejections', (request, reply) => {
  made.asked.push(request.url)
  return reply.send(rejections)
})
const url = await app.listen({ host: '127.0.0.1', port: 0 })
const browser = await openBrowser()
t.teardown(async () => {
  await browser.close()
  await app.close()
})

const metrics = (page: Page) => page.getByRole('region', { name: 'Service metrics', exact: true })
const charts = (page: Page) => page.getByRole('application')
const open = (page: Page, search = '') => page.goto(`${url}/admin/status${search}`)

for (const [name, options] of Object.entries({ desk, phone })) {
  t.test(`${name}: a chart for each figure, with its unit, and a table of the same numbers`, async t => {
    await inBrowser(t, browser, options, async page => {
      await open(page)
      await charts(page).waitFor()
      const headings = metrics(page).getByRole('heading', { level: 3 })
      await becomes(t, async () => (await headings.allInnerTexts()).map(text => text.replace(/\s+/g, ' ')), [
        'Acknowledgement ms',
        'Lag s',
        'Rejected readings per 4 minutes',
        'Memory MB',
      ])
      await becomes(t, () => metrics(page).innerText(), /The worst of each 4 minutes;/)
      await becomes(t, () => metrics(page).locator('canvas').count(), 4)
      if (name === 'phone') await inspect(t, page, 'service metrics')
      await page.getByRole('button', { name: /Show as table/ }).click()
      const cells = (column: number) =>
        page
          .locator(`table tr td:nth-of-type(${column}) data`)
          .evaluateAll(found => found.map(cell => Number((cell as unknown as { value: string }).value)))
      const newest = points.toReversed().slice(0, 48)
      const [acks, bytes] = [newest.flatMap(one => one.ack_p99_ms ?? []), newest.map(one => one.rss_bytes * 1e-6)]
      await becomes(t, () => cells(2), acks)
      await becomes(t, () => cells(5), bytes)
    })
  })
}

t.test('each node has a card, and a list goes on at the node that answers', async t => {
  made.status = { ...status, nodes: [madeNode, goneNode] }
  await inBrowser(t, browser, { ...phone, colorScheme: 'dark' }, async page => {
    await open(page)
    const card = (id: string) => page.locator('.card').filter({ hasText: `Node ${id}` })
    await becomes(t, () => textOf(card(madeNode.id)), /h-1, which answers here.*renewed/s)
    await becomes(t, () => textOf(card(goneNode.id).locator('.bad').first()), /expired, renewed/)
    await inspect(t, page, 'status of nodes')
    await page.goto(`${url}/admin/rejections`)
    await becomes(t, () => textOf(page.getByRole('status')), /at node 01234567 on h-1/)
    await page.getByRole('button', { name: 'Next page' }).click()
    await waitFor('that node is asked', async () =>
      made.asked.some(path => path.includes(`node=${madeNode.id}`) && path.includes('after=20')),
    )
  })
})

t.test('the range stands in the address, as much is asked for as it needs, and keys tell the figures', async t => {
  await inBrowser(t, browser, desk, async page => {
    await open(page)
    await charts(page).waitFor()
    await charts(page).focus()
    const spoken = () => textOf(page.locator('[aria-live=polite]'))
    await page.keyboard.press('End')
    await becomes(
      t,
      spoken,
      /: Acknowledgement p50 [\d.]+ ms, Acknowledgement p99 [\d.]+ ms, Lag [\d.]+ s, Rejected \d+ readings per 4 minutes, Memory \d+ MB$/,
    )
    // 360 − 343: in the middle of the time without an acknowledged reading.
    for (let step = 0; step < 17; step++) await page.keyboard.press('ArrowLeft')
    await becomes(t, spoken, /: Acknowledgement p50 no value, Acknowledgement p99 no value, Lag [\d.]+ s,/)
    await page.keyboard.press('+')
    await page.waitForURL(/from=.*&to=/)
    await waitFor('half a day is asked for', async () => made.asked.some(path => /hours=1[23]$/.test(path)))
    await charts(page).focus()
    await page.keyboard.press('0')
    await page.waitForURL(found => found.search === '')
    await page.getByRole('button', { name: '7 days', exact: true }).click()
    await page.waitForURL(found => found.search === '?range=7d')
    await waitFor('a week is asked for', async () => made.asked.some(path => path.endsWith('?hours=168')))
    await page.goBack()
    await page.waitForURL(found => found.search === '')
    await open(page, '?range=365d')
    await charts(page).waitFor()
    const day = page.getByRole('button', { name: '24 hours', exact: true })
    await becomes(t, () => day.getAttribute('aria-pressed'), 'true', 'a range that there is not')
  })
})

t.test('figures come by themselves after the start, and stay with their time while QuestDB is away', async t => {
  made.points = []
  await inBrowser(t, browser, desk, async page => {
    await open(page, '?range=1h')
    await metrics(page).getByText('There are no metrics yet.').waitFor()
    made.points = points.slice(-2)
    await charts(page).waitFor(patience)
    made.refusal = { status: 503, title: 'database unavailable', detail: 'QuestDB does not answer' }
    const away = page.getByText('The service cannot read its data at the moment (QuestDB does not answer)')
    await away.waitFor(patience)
    await becomes(t, () => page.locator('.banner').innerText(), /Data of \d\d:\d\d\./)
    await page.getByRole('button', { name: '7 days', exact: true }).click()
    await becomes(t, () => metrics(page).locator('canvas').count(), 4, 'also when another range is chosen')
    await page.reload()
    await away.waitFor()
    await page.getByRole('heading', { name: 'Journal' }).waitFor()
    await becomes(t, () => metrics(page).locator('canvas').count(), 0, 'from the start there is all but the figures')
    made.refusal = undefined
    await page.locator('.banner').waitFor({ state: 'detached', ...patience })
  })
})
