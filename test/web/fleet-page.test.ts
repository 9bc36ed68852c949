/** The fleet page in a browser, beside a made answer of the service: any number of devices, and any fault. */

import type { Page } from 'playwright-core'
import t from 'tap'
import { becomes, within } from '../support/becomes.ts'
import { desk, inspect, lookAgain, textOf } from '../support/browser-page.ts'
import { waitFor } from '../support/wait-for.ts'
import { madeDevices, noInsights, openFleetServer } from './fleet-server.ts'
import { pageTests } from './page-tests.ts'

const { on, onDesk, onPhone } = await pageTests(t)

const server = await openFleetServer(t, madeDevices(60))
const rows = (page: Page) => page.locator('table tbody tr')
const rowOf = (page: Page, name: string) => page.locator('tr', { has: page.getByRole('link', { name, exact: true }) })
const names = (page: Page) => page.locator('table tbody tr td.device a').allInnerTexts()
const showsAddress = (page: Page, search: string) => page.waitForURL(url => url.search === search)
const rowCount = (page: Page) => page.locator('table').getAttribute('aria-rowcount')

t.afterEach(() => {
  server.refusal = undefined
  server.more = {}
  server.devices = madeDevices(60)
  server.insights = noInsights
})

onPhone('the worst is first with tags and 24 hours, and names are escaped', async (page, t) => {
  const markup = `<img>${'0'.repeat(59)}`
  server.devices = madeDevices(60).map(device => ({ ...device, tags: ['room:Server room 1', 'site:berlin'] }))
  Object.assign(server.devices[0] ?? {}, { device: markup, location_short: '<b>bold</b>' })
  await page.goto(server.url)
  await becomes(t, () => rows(page).first().innerText(), /silent/)
  await becomes(t, () => page.title(), '2 silent – Fleet – Barograph')
  await becomes(t, () => rowCount(page), '61')
  await becomes(t, () => page.locator('#icon').getAttribute('href'), within(encodeURIComponent('>2</text>')))
  await becomes(t, () => rows(page).first().locator('svg.strip').getAttribute('aria-label'), /^24 hours: /)
  const link = page.getByRole('link', { name: markup, exact: true })
  await becomes(t, () => link.getAttribute('href'), `/device/${encodeURIComponent(markup)}`)
  await page.getByText('<b>bold</b>', { exact: true }).waitFor()
  const tags = () => rowOf(page, 'sensor-00001').locator('.tags li').allInnerTexts()
  await becomes(t, tags, ['room:Server room 1', 'site:berlin'])
  const fresh = rows(page).filter({ hasText: 'fresh' }).first()
  const line = fresh.locator('td.hours svg.sparkline')
  await becomes(t, () => line.getAttribute('aria-label'), /^Temperature in 24 hours: \d+\.\d to \d+\.\d\u202f°C$/)
  const sentence = /^(steady for|rising, 0\.6\u202f°C in|falling, 0\.6\u202f°C in) 3 hours$/
  await becomes(t, () => fresh.locator('td.temperature svg.trend').getAttribute('aria-label'), sentence)
  await becomes(t, () => fresh.locator('td.humidity svg.trend').count(), 0)
  const never = rows(page).filter({ hasText: 'no reading yet' }).locator('.sparkline, .trend')
  await becomes(t, () => never.count(), 0)
  await inspect(t, page, 'fleet')
})

onDesk('chosen tags are in the address', async (page, t) => {
  server.devices = madeDevices(60).map((device, index) => {
    const tags = [`room:Server room ${index % 7}`, index % 3 === 1 ? 'site:berlin' : 'site:bonn']
    return index % 3 === 0 ? device : { ...device, tags }
  })
  await page.goto(server.url)
  const choose = (tag: string) => page.getByRole('combobox', { name: 'Tag', exact: true }).selectOption(tag)
  await choose('site:berlin')
  await page.getByText(/^20 devices\./).waitFor()
  await choose('room:Server room 1')
  await showsAddress(page, '?tag=site%3Aberlin&tag=room%3AServer+room+1')
  await page.getByText(/^3 devices\./).waitFor()
  await page.reload()
  await becomes(t, () => page.locator('.chosen-tags li').allInnerTexts(), ['site:berlin ×', 'room:Server room 1 ×'])
  await page.getByRole('button', { name: 'Remove site:berlin' }).click()
  await showsAddress(page, '?tag=room%3AServer+room+1')
  await page.goBack()
  await page.getByText(/^3 devices\./).waitFor()
  await page.goto(`${server.url}/?tag=site:paris`)
  await page.getByText('No device matches your search.').waitFor()
})

onDesk('the address has search, filter and order, which the back button undoes', async (page, t) => {
  await page.goto(server.url)
  await rows(page).first().waitFor()
  await page.getByRole('button', { name: /fresh/ }).click()
  await showsAddress(page, '?state=fresh')
  await page.getByRole('button', { name: 'Temperature' }).click()
  await page.getByRole('button', { name: 'Temperature' }).click()
  await showsAddress(page, '?state=fresh&sort=-temperature')
  const header = page.getByRole('columnheader', { name: 'Temperature' })
  await becomes(t, () => header.getAttribute('aria-sort'), 'descending')
  await page.getByLabel('Search').fill('porch')
  await showsAddress(page, '?state=fresh&sort=-temperature&q=porch')
  await waitFor('fewer rows', async () => (await rows(page).count()) < 12)
  await page.reload()
  await rows(page).first().waitFor()
  await becomes(t, () => page.getByLabel('Search').inputValue(), 'porch')
  for (const wanted of ['?state=fresh&sort=temperature', '?state=fresh', '']) {
    await page.goBack()
    await showsAddress(page, wanted)
  }
  await becomes(t, () => header.getAttribute('aria-sort'), null, 'in another order')
})

onDesk('groups by a tag have keys and headings that follow events', async (page, t) => {
  const siteOf = (index: number) => (index % 3 === 0 ? [] : [`site:${index % 3 === 1 ? 'berlin' : 'bonn'}`])
  server.devices = madeDevices(60).map((device, at) => ({ ...device, state: 'fresh', tags: siteOf(at) }))
  const heading = (text: string) =>
    textOf(page.locator('table th[scope=rowgroup]').filter({ hasText: text }).locator('span'))
  await page.goto(server.url)
  await page.getByText('Live.').waitFor()
  await page.getByRole('combobox', { name: 'Groups' }).selectOption('site')
  await showsAddress(page, '?group=site')
  await becomes(t, () => rows(page).first().innerText(), within('site:berlin'))
  await becomes(t, () => heading('site:berlin'), '20 devices')
  Object.assign(server.devices[1] ?? {}, { state: 'silent' })
  server.send('state', { device: 'sensor-00001', state: 'silent' })
  await becomes(t, () => heading('site:berlin'), '20 devices · 1 silent')
  await inspect(t, page, 'groups')
  await becomes(t, () => rowCount(page), '64')
  await page.getByRole('button', { name: 'site:berlin', exact: true }).click()
  await becomes(t, () => rowCount(page), '44')
  const focused = (what: string) => () => page.evaluate(`document.activeElement.${what}`)
  await page.keyboard.press('ArrowDown')
  await becomes(t, focused('innerText'), 'site:bonn')
  await page.keyboard.press('End')
  await becomes(t, focused('tagName'), 'A')
  await page.keyboard.press('Home')
  await becomes(t, focused('getAttribute("aria-expanded")'), 'false')
  await page.keyboard.press('Enter')
  await becomes(t, () => rowCount(page), '64')
  await page.getByLabel('Search').fill('sensor-0001')
  await becomes(t, () => heading('site:bonn'), '3 of 20 devices')
  await page.reload()
  await becomes(t, () => heading('No tag'), '3 of 20 devices')
})

onDesk('an event changes a value, a state and the counts, in a hidden tab later', async (page, t) => {
  const show = (state: string) =>
    page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))`)
  await page.goto(server.url)
  await page.getByText('Live.').waitFor()
  const row = rowOf(page, 'sensor-00001')
  server.send('reading', { device: 'sensor-00001', ts: Date.now(), values: { temperature: -7.5 } })
  await row.getByText('−7.5').waitFor()
  server.send('state', { device: 'sensor-00001', state: 'silent' })
  await row.getByText('silent').waitFor()
  await page.getByRole('button', { name: /^3 silent/ }).waitFor()
  await show('hidden')
  await waitFor('nobody listens', () => server.listening() === 0)
  const asked = server.requests.length
  server.devices = madeDevices(61)
  await show('visible')
  await page.getByText('61 devices. Live.').waitFor()
  t.ok(server.requests.length > asked)
  await becomes(t, async () => server.listening(), 1)
})

onDesk('events of devices without the tags that are chosen change nothing', async (page, t) => {
  // More than the first page has, so that the rest is read by name.
  server.devices = madeDevices(450).map((device, index) =>
    index < 250 ? { ...device, tags: ['site:berlin'] } : device,
  )
  const listed = () => server.requests.filter(url => url.includes('order=name')).length
  await page.goto(`${server.url}/?tag=site:berlin&sort=device`)
  await page.getByText('Live.').waitFor()
  await page.getByText(/^250 devices\./).waitFor()
  const [asked, read] = [server.requests.length, listed()]
  server.send('reading', { device: 'sensor-00400', ts: Date.now(), values: { co2: 400 } })
  server.send('state', { device: 'sensor-00400', state: 'silent' })
  server.send('reading', { device: 'sensor-00001', ts: Date.now(), values: { temperature: -7.5 } })
  await page.getByText('−7.5').waitFor()
  await waitFor('the first page is read twice more', async () => server.requests.length > asked + 1)
  t.equal(listed(), read, 'the list is not read again')
  await page.getByText(/^250 devices\./).waitFor()
})

const metrics = {
  co2: { title: 'CO₂', kind: 'gauge', unit: 'ppm', decimals: 0 },
  wind_direction: { title: 'Wind direction', kind: 'direction', unit: '°', decimals: 0 },
  door: { title: 'Door open', kind: 'state', unit: null, decimals: 0 },
  rain_total: { title: 'Rain in total', kind: 'counter', unit: 'mm', decimals: 1 },
}
const headers = async (page: Page) =>
  (await page.locator('table th').allInnerTexts()).map(text => text.replace(/[▴▾]/, '').trim())

onDesk('each device has its own metrics, new ones included, without empty columns', async (page, t) => {
  server.devices = madeDevices(12).map((device, index) => {
    const { temperature = 20 } = device.values
    const values = [
      { temperature },
      { co2: 640 + index, wind_direction: 45, door: 1, rain_total: 412.5 },
      { temperature, co2: 400 },
    ][index % 3]
    return { ...device, state: 'fresh', last_seen: Date.now(), values: values ?? {} }
  })
  server.more = { metrics }
  await page.goto(server.url)
  const custom = rowOf(page, 'sensor-00001').locator('td.custom li')
  const texts = async () => (await custom.allInnerTexts()).map(text => text.replace(/\s+/g, ' ').trim())
  await becomes(t, texts, ['CO₂ 641 ppm', 'Wind direction NE 45°', 'Door open on', 'Rain in total 412.5 mm'])
  await becomes(t, () => custom.locator('path').getAttribute('transform'), 'rotate(45)')
  const columns = ['State', 'Device', 'Last reading', 'Temperature', 'Other values', 'Last 24 hours']
  await becomes(t, () => headers(page), columns)
  await inspect(t, page, 'a mixed fleet')
  await page.getByLabel('Order').selectOption({ label: 'CO₂' })
  await showsAddress(page, '?sort=metric.co2')
  const first = ['sensor-00002', 'sensor-00005', 'sensor-00008', 'sensor-00011', 'sensor-00001']
  await becomes(t, async () => (await names(page)).slice(0, 5), first)

  server.devices = madeDevices(60)
  server.more = {}
  await page.goto(server.url)
  await page.getByText('Live.').waitFor()
  await becomes(t, async () => (await headers(page)).includes('Other values'), false)
  server.more = { metrics }
  Object.assign(server.devices[1]?.values ?? {}, { co2: 777 })
  server.send('reading', { device: 'sensor-00001', ts: Date.now(), values: { co2: 777 } })
  await rowOf(page, 'sensor-00001').getByText('CO₂ 777').waitFor()
})

onPhone('a phone distinguishes humidity from battery and has a line for each custom value', async (page, t) => {
  const [one] = madeDevices(1) as [(typeof server.devices)[number]]
  const hours = '-'.repeat(24)
  server.devices = [
    { ...one, state: 'fresh', device: 'hut', values: { humidity: 55, battery_percentage: 80, co2: 612 } },
    { ...one, state: 'fresh', device: 'shed', values: { humidity: 61 }, hours, last_seen: Date.now() },
    { ...one, state: 'never', device: 'unused', values: {}, hours, last_seen: null },
  ]
  await page.goto(`${server.url}/?sort=device`)
  const height = async () => (await rowOf(page, 'hut').boundingBox())?.height
  await becomes(t, () => rowOf(page, 'hut').ariaSnapshot(), /cell "55\s%\s+RH"[\s\S]*cell "Battery\s+80\s%"/)
  await becomes(t, height, 116 + 22)
  await becomes(t, () => rowOf(page, 'shed').locator('td.hours').textContent(), 'no full hour yet', 'the first hour')
  await becomes(t, () => rowOf(page, 'unused').locator('td.hours').textContent(), '–', 'no hour')
  Object.assign(server.devices[0]?.values ?? {}, { wind_speed: 3 })
  await page.reload()
  await becomes(t, height, 116 + 39)
})

onPhone('the list is read again without events and explains sending while empty', async (page, t) => {
  const polled = await openFleetServer(t, [], { events: false })
  await page.clock.install()
  await page.goto(polled.url)
  await page.getByText(`${polled.url}/api/log`).waitFor()
  await inspect(t, page, 'empty')
  polled.devices = madeDevices(1)
  await lookAgain(page)
  await rows(page).first().waitFor()
  await page.getByText('Read again every 10 s.').waitFor()
  Object.assign(polled.devices[0] ?? {}, { location_short: 'Moved' })
  await page.clock.fastForward(10_000)
  await page.getByText('Moved').waitFor()
})

onDesk('while the service cannot read, or is gone, the last picture stays, marked as old', async (page, t) => {
  await page.goto(server.url)
  await rows(page).first().waitFor()
  const isGone = () => page.locator('.banner').waitFor({ state: 'detached' })
  server.refusal = { status: 503, body: { status: 'database unavailable' } }
  await lookAgain(page)
  await page.getByText('The service cannot read its data at the moment').waitFor()
  await becomes(t, () => page.locator('.banner').innerText(), /Data of \d\d:\d\d\./)
  await becomes(t, () => page.locator('.stale table').count(), 1)
  await becomes(t, () => page.title(), 'No data – Fleet – Barograph')
  await becomes(t, () => page.locator('.toolbar').innerText(), within('Not current.'))
  await inspect(t, page, 'stale')
  server.refusal = undefined
  await lookAgain(page)
  await isGone()
  await becomes(t, () => page.locator('.stale').count(), 0)
  const restart = await server.kill()
  await lookAgain(page)
  await page.getByText('The service does not answer').waitFor()
  await becomes(t, () => page.title(), 'No connection – Fleet – Barograph')
  await becomes(t, () => page.locator('.stale table').count(), 1)
  server.more = { catching_up: true }
  await restart()
  await lookAgain(page)
  await page.getByText('the last readings may be missing still').waitFor()
  const missing =
    'QuestDB is empty or an older copy: it lacks readings that were received from 2026-11-20T08:00:00Z to 2026-11-23T12:00:00Z'
  server.more = { missing }
  await lookAgain(page)
  await page.getByRole('status').getByText(`Stored readings cannot be read. ${missing}`).waitFor()
  server.more = {}
  await lookAgain(page)
  await isGone()
  server.refusal = { status: 401, body: { status: 'unauthorized' } }
  await page.goto(`${server.url}/?state=silent`)
  const link = page.getByRole('main').getByRole('link', { name: 'Sign in' })
  await becomes(t, () => link.getAttribute('href'), '/sign-in?callbackUrl=%2F%3Fstate%3Dsilent')
})

const insights = {
  generated_at: Date.UTC(2026, 10, 23, 12),
  findings: [
    { device: 'sensor-00000', code: 'battery_days', severity: 'critical', value: 6.4, expected: [4.2, 9.8] },
    { device: 'Attic / 2', code: 'drift', severity: 'warning', value: 31.2, expected: [20.5, 20.5] },
  ].map(finding => {
    const metric = finding.code === 'drift' ? 'temperature' : 'battery_percentage'
    const unknown = { until: null, count: null, pattern: null, reason: null, text: '' }
    return { ...finding, ...unknown, metric, since: '2026-11-22 13:00' }
  }),
  findings_total: 14,
  batteries: ['0'.repeat(64), ...madeDevices(199).map(({ device }) => device)].map((device, at) => {
    const interval = { days_left: 12 + at / 4, low: 9.2, high: at === 2 ? 900 : 70.6 }
    return { device, ...interval, metric: 'battery_percentage', percent_per_day: -1 }
  }),
  batteries_total: 1234,
  outliers: [{ device: 'Attic / 2', metric: 'temperature', value: 31.2, median: 20.5, score: 14, peers: 12 }],
  outliers_total: 1,
  gauges_left_out: 0,
}

onPhone('batteries that run out and devices unlike the others, as soon as QuestDB is there', async (page, t) => {
  server.insights = undefined
  await page.goto(server.url)
  await page.getByText('Battery estimates and comparisons are not available at the moment.').waitFor()
  await rows(page).first().waitFor()
  const top = async () => (await page.getByLabel('Search').boundingBox())?.y ?? Infinity
  await becomes(t, async () => (await top()) < 400, true, 'the search is in the first screen')
  server.insights = insights
  await lookAgain(page)
  const batteries = page.getByRole('region', { name: 'Batteries running out 1,234' })
  const odd = page.getByRole('region', { name: 'Unlike the others 1' })
  await page.locator('.insights > summary').filter({ hasText: 'Findings 14' }).click()
  await batteries.waitFor()
  const items = batteries.getByRole('listitem')
  const findings = page.getByRole('region', { name: 'Findings' })
  await becomes(t, () => findings.getByRole('listitem').count(), 2)
  await findings.getByText('12 more findings').click()
  const worstFirst =
    /critical\s*sensor-00000 The battery lasts about 6 days \(4 to 10\)\s+warning\s*Attic \/ 2 Temperature is unlike its neighbours: 31\.2 °C, expected 20\.5 °C\s+12 more findings\s+And 12 more\./
  await becomes(t, () => textOf(findings), worstFirst)
  const attic = '/device/Attic%20%2F%202'
  await becomes(t, () => findings.getByRole('listitem').nth(1).getByRole('link').getAttribute('href'), attic)
  await becomes(t, () => items.first().isVisible(), false, 'the whole lists are folded')
  for (const list of [batteries, odd]) await list.locator('summary').click()
  await becomes(t, () => items.count(), 3)
  await becomes(t, () => items.nth(1).innerText(), /^sensor-00000\s+about 12 days \(9 to 71\)$/)
  await becomes(t, () => textOf(odd), /Attic \/ 2\s+Temperature 31\.2 °C, expected 20\.5 °C/)
  await becomes(t, () => odd.getByRole('button').count(), 0)
  await inspect(t, page, 'insights')
  await batteries.getByRole('button', { name: 'Show the first 200' }).click()
  await batteries.getByText('And 1,034 more.').waitFor()
  await becomes(t, () => items.count(), 200)
})

const shiftObserver = `globalThis.shift = 0
  new PerformanceObserver(list => { for (const { value } of list.getEntries()) globalThis.shift += value })
    .observe({ type: 'layout-shift', buffered: true })`
const rowsInSight =
  "[...document.querySelectorAll('tbody tr')].filter(row => row.getBoundingClientRect().bottom <= innerHeight).length"

on({ viewport: { width: 1280, height: 900 } })(
  'ten devices are in sight below states, findings and one row of tools, and late findings move nothing',
  async (page, t) => {
    server.devices = madeDevices(111).map(device => ({ ...device, tags: ['room:Server room 1', 'site:berlin'] }))
    server.insights = insights
    await page.addInitScript(shiftObserver)
    await page.route('**/api/fleet/insights', async route => {
      await rows(page).first().waitFor()
      await route.continue()
    })
    await page.goto(server.url)
    await page.getByRole('region', { name: 'Findings' }).getByRole('listitem').first().waitFor()
    await becomes(t, () => page.getByRole('combobox').count(), 3, 'tags, groups and the map')
    await becomes(t, async () => (await page.locator('.toolbar').boundingBox())?.height, 44, 'one row of tools')
    const inSight = Number(await page.evaluate(rowsInSight))
    t.ok(inSight >= 10, `${inSight} devices in sight`)
    // A frame is reported once it has been painted.
    await page.evaluate('new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
    const shift = Number(await page.evaluate('globalThis.shift'))
    t.ok(shift < 0.05, `a layout shift of ${shift}`)
  },
)

onDesk('changes since the last visit are shown once', async (page, t) => {
  const answered = page.waitForResponse('**/api/fleet/insights')
  await page.goto(server.url)
  await answered
  await rows(page).first().waitFor()
  await becomes(t, () => page.locator('.insights').innerText(), 'No findings.')
  await becomes(t, () => page.getByText('Since your last visit').count(), 0)
  const one = server.devices.find(({ device }) => device === 'sensor-00001')
  Object.assign(one ?? {}, { state: 'silent' })
  await page.reload()
  await page.getByText('Since your last visit').waitFor()
  await becomes(t, () => page.locator('.banner').innerText(), within('1 device became silent (sensor-00001)'))
  await page.getByRole('button', { name: 'Dismiss' }).click()
  await page.reload()
  await rows(page).first().waitFor()
  await becomes(t, () => page.getByText('Since your last visit').count(), 0)
})

on({ ...desk, reducedMotion: 'reduce' })(
  '3,000 devices: a few rows are drawn, and keys lead to each',
  async (page, t) => {
    server.devices = madeDevices(3_000)
    server.requests.length = 0
    await page.goto(server.url)
    await page.getByText('3,000 devices.').waitFor()
    await becomes(t, () => rowCount(page), '3001')
    await becomes(t, async () => (await rows(page).count()) < 60, true, 'few rows')
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
    await page.locator('[aria-rowindex="3001"]').waitFor()
    await becomes(t, async () => (await rows(page).count()) < 60, true, 'few rows')
    await page.evaluate('scrollTo(0, 0)')
    const focused = () =>
      page.evaluate("document.activeElement.closest('tr')?.ariaRowIndex ?? document.activeElement.tagName")
    // The rows at the top are drawn in a later frame than the one that scrolls there.
    await waitFor('the first row has the focus', async () => {
      await page.locator('[aria-rowindex="2"] a').focus()
      await page.evaluate('new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
      return (await focused()) === '2'
    })
    await page.keyboard.press('ArrowDown')
    await waitFor('the next row has the focus', async () => (await focused()) === '3')
    await page.keyboard.press('End')
    await waitFor('the last row has the focus', async () => (await focused()) === '3001')
    await page.keyboard.press('PageUp')
    await waitFor('a row before it has the focus', async () => Number(await focused()) < 3_001)
    await page.keyboard.press('Home')
    await waitFor('the first row has the focus', async () => (await focused()) === '2')
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight / 2)')
    await page.locator('svg.sparkline').first().waitFor()
    const asked = server.requests.filter(url => url.startsWith('/api/fleet/trends?'))
    t.ok(asked.length > 0)
    for (const url of asked) t.ok(url.split('device=').length <= 101 && url.length < 6_100, `${url.length} characters`)
  },
)

onDesk('the keyboard reaches everything, in the order of the page', async (page, t) => {
  await page.goto(server.url)
  await rows(page).first().waitFor()
  const reached: string[] = []
  const focused = 'document.activeElement.labels?.[0]?.innerText ?? document.activeElement.innerText'
  for (let press = 0; press < 25; press++) {
    await page.keyboard.press('Tab')
    reached.push(String(await page.evaluate(focused)).trim())
  }
  const order = ['Skip to the content', 'Fleet', 'Docs', 'Search', 'Device', 'sensor-00000']
  t.strictSame(
    reached.filter((text, at) => order.includes(text) && reached.indexOf(text) === at),
    order,
    reached.join(', '),
  )
})
