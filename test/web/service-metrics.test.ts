/** The status of the service and of its nodes on the admin page, beside made answers: charts of its figures, in each state. */

import type { Page } from 'playwright-core'
import t from 'tap'
import type { RejectionPage, StatusHistory } from '../../api/admin/answers.ts'
import { webFamily } from '../../api/web/web.ts'
import { createApp } from '../support/app.ts'
import { becomes } from '../support/becomes.ts'
import { charts, inspect, lookAgain, spoken, textOf } from '../support/browser-page.ts'
import { waitFor } from '../support/wait-for.ts'
import { goneNode, madeNode, madeStatus as status } from './made-status.ts'
import { pageTests } from './page-tests.ts'

const dayMs = 86_400_000

/** 24 hours by 4 minutes. The service was down for two hours of the night, and later acknowledged nothing for an hour. */
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
t.teardown(() => app.close())
const { onDesk, onPhone } = await pageTests(t)

const metrics = (page: Page) => page.getByRole('region', { name: 'Service metrics', exact: true })
const open = (page: Page, search = '') => page.goto(`${url}/admin/status${search}`)

onPhone('each figure has a chart with unit, keys and a table', async (page, t) => {
  await open(page)
  await charts(page).waitFor()
  await becomes(t, () => textOf(metrics(page)), /The worst of each 4 minutes;.*Rejected\s+readings per 4 minutes/s)
  await becomes(t, () => metrics(page).locator('canvas').count(), 4)
  await inspect(t, page, 'service metrics')
  await charts(page).focus()
  await page.keyboard.press('End')
  const newest = /: Acknowledgement p50 [\d.]+ ms, .* Rejected \d+ readings per 4 minutes, Memory \d+ MB$/
  await becomes(t, () => spoken(page), newest)
  await page.keyboard.press('+')
  await page.waitForURL(/from=.*&to=/)
  await waitFor('half a day is read', async () => made.asked.some(path => /hours=1[23]$/.test(path)))
  await page.goBack()
  await page.getByRole('button', { name: /Show as table/ }).click()
  const cells = page.locator('table tr td:nth-of-type(5) data')
  const shown = () =>
    cells.evaluateAll(found => found.map(cell => Number((cell as unknown as { value: string }).value)))
  await becomes(
    t,
    shown,
    points
      .slice(-48)
      .map(({ rss_bytes }) => rss_bytes * 1e-6)
      .reverse(),
  )
})

onPhone('each node has a card, and a list continues at the responding node', async (page, t) => {
  made.status = { ...status, nodes: [madeNode, goneNode] }
  await open(page)
  const gone = page.locator('.card').filter({ hasText: `Node ${goneNode.id}` })
  await becomes(t, () => textOf(gone.locator('.bad').first()), /expired, renewed/)
  await page.goto(`${url}/admin/rejections`)
  await becomes(t, () => textOf(page.getByRole('status')), /at node 01234567 on h-1/)
  await page.getByRole('button', { name: 'Next page' }).click()
  await waitFor('that node is asked', async () =>
    made.asked.some(path => path.includes(`node=${madeNode.id}`) && path.includes('after=20')),
  )
})

onDesk('figures appear after the start and stay with their time without QuestDB', async (page, t) => {
  made.points = []
  await open(page, '?range=1h')
  await metrics(page).getByText('There are no metrics yet.').waitFor()
  made.points = points.slice(-2)
  await lookAgain(page)
  await charts(page).waitFor()
  made.refusal = { status: 503, title: 'database unavailable', detail: 'QuestDB does not answer' }
  await lookAgain(page)
  const away = page.getByText('The service cannot read its data at the moment (QuestDB does not answer)')
  await away.waitFor()
  await becomes(t, () => page.locator('.banner').innerText(), /Data of \d\d:\d\d\./)
  await becomes(t, () => metrics(page).locator('canvas').count(), 4)
  await page.reload()
  await away.waitFor()
  await page.getByRole('heading', { name: 'Journal' }).waitFor()
  await becomes(t, () => metrics(page).locator('canvas').count(), 0, 'from the start there is all but the figures')
  made.refusal = undefined
  await lookAgain(page)
  await page.locator('.banner').waitFor({ state: 'detached' })
})
