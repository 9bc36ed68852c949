/** What was unusual, on the page of a device: read once it is unfolded, and page by page. */

import t from 'tap'
import { buildWeb } from '../../web/build.ts'
import { becomes } from '../support/becomes.ts'
import { openBrowser } from '../support/browser.ts'
import { desk, inBrowser, inspect, phone, region, textOf, unfold } from '../support/browser-page.ts'
import { startService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const stepMs = 10 * minuteMs
const spikes = 30

await buildWeb()
const service = await startService(t, { environment: { TIME_ZONE: 'Europe/Berlin' } })
const browser = await openBrowser()
t.teardown(() => browser.close())
const { url } = service
const endMs = Math.floor(Date.now() / stepMs) * stepMs

/** Twelve days with a spike every nine hours, and without four hours of the day before yesterday. */
function odd(): string {
  const lines = ['timestamp,device,temperature,humidity,pressure']
  for (let atMs = endMs - 288 * hourMs; atMs <= endMs; atMs += stepMs) {
    const ageMs = endMs - atMs
    const spike = ageMs > hourMs && ageMs < (9 * spikes + 2) * hourMs && (ageMs - 2 * hourMs) % (9 * hourMs) === 0
    if (ageMs > 40 * hourMs && ageMs < 44 * hourMs) continue
    const wave = Math.sin((2 * Math.PI * atMs) / (24 * hourMs)) + Math.sin(atMs) / 20
    lines.push(`${new Date(atMs).toISOString()},odd,${12 + 5 * wave + (spike ? 20 : 0)},${60 - 10 * wave},1010`)
  }
  return `${lines.join('\n')}\n`
}

await service.addDevice('odd', { expected_interval_seconds: 600 })
await service.addDevice('plain', { expected_interval_seconds: 600 })
await service.import(`${odd()}${new Date(endMs).toISOString()},plain,20,50,1010\n`)
const totalOf = async (name: string) => {
  const answer = (await (await fetch(`${url}/api/anomalies/${name}`)).json()) as { anomalies_total?: number }
  return answer.anomalies_total ?? 0
}
// Before, an answer would be of a part of them, and is kept as long as the device is expected to send nothing new.
await waitFor('the readings are applied', async () =>
  (await (await fetch(`${url}/metrics`)).text()).includes('\nbarograph_lag_readings 0\n'),
)
await waitFor('the readings can be queried', async () => (await totalOf('odd')) >= spikes)
const total = await totalOf('odd')

for (const [name, options] of Object.entries({ desk, phone })) {
  t.test(`${name}: the newest first, more when they are asked for, each with its way into the charts`, async t => {
    await inBrowser(t, browser, options, async page => {
      const asked: string[] = []
      page.on('request', request => {
        if (request.url().includes('/api/anomalies/')) asked.push(request.url())
      })
      await page.goto(`${url}/device/odd`)
      const section = region(page, 'What was unusual')
      await section.waitFor()
      t.strictSame(asked, [], 'nothing is read while it is folded')
      await unfold(section)
      const entries = section.locator('.anomalies li')
      await becomes(t, () => entries.count(), 20, 'a page')
      const says = /^Temperature had a spike at .*: \d\d\.\d °C, expected −?[\d.]+ °C to [\d.]+ °C\. In the charts$/
      await becomes(t, () => textOf(entries.first()), says, 'the newest')
      await becomes(t, () => textOf(section), /No readings for 4 hours from/, 'the outage')
      await inspect(t, page, `anomalies, ${name}`)
      await section.getByRole('button', { name: 'Show more' }).click()
      await becomes(t, () => entries.count(), total, 'all of them')
      await becomes(t, async () => new Set(await entries.allInnerTexts()).size, total, 'each once')
      await becomes(t, () => section.getByRole('button', { name: 'Show more' }).count(), 0, 'there are no more')
      t.equal(asked.length, 2, 'a page each')
      await entries.last().getByRole('link').click()
      await becomes(t, async () => page.url(), /[?&]from=.*&to=/, 'the range of the charts')
    })
  })
}

t.test('of a device without any the section says so', async t => {
  await inBrowser(t, browser, desk, async page => {
    await page.goto(`${url}/device/plain`)
    const section = region(page, 'What was unusual')
    await unfold(section)
    await becomes(t, () => textOf(section), /Nothing was unusual\.$/, 'the sentence')
  })
})
