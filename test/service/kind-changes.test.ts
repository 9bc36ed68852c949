/** A metric whose kind is changed while readings come: what every read answers from then on, on the whole service. */

import tap from 'tap'
import { metricKinds } from '../../metrics/metric.ts'
import { until } from '../support/processes.ts'
import { startService } from '../support/service.ts'

const service = await startService(tap)
const { url } = service
const hourMs = 3_600_000
const nowMs = Date.now()
const startMs = Math.floor(nowMs / hourMs) * hourMs - 72 * hourMs
const passwords = { hall: await service.addDevice('hall'), porch: await service.addDevice('porch') }
const good = { temperature: 21.5, humidity: 48, pressure: 1013.2 }

const lines = ['timestamp,device,temperature,humidity,pressure,sap_flow']
for (let minutes = 0; startMs + minutes * 60_000 < nowMs - 60_000; minutes += 10) {
  const time = new Date(startMs + minutes * 60_000).toISOString()
  // Fractions, numbers below 0 and beyond 360: what one kind takes, another one may not.
  for (const device of ['hall', 'porch']) lines.push(`${time},${device},20,50,1000,${(minutes % 700) / 2 - 20}`)
}
await service.import(`${lines.join('\n')}\n`)

async function get(path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}${path}`)
  return { status: response.status, text: await response.text() }
}

const range = `start=${startMs}&end=${nowMs + hourMs}`
const reads = [
  '/api/latest/hall',
  '/api/latest/all/24',
  '/api/fleet',
  '/api/fleet/insights',
  `/api/readings/hall?${range}`,
  `/api/readings/hall?${range}&step=3600`,
  `/api/readings/hall?${range}&step=3600&format=csv`,
  `/api/readings/hall?${range}&step=3600&format=parquet`,
  '/api/stats_data/hall',
  '/api/detail_data/hall',
  '/api/daily_summary/hall?days=3',
  '/api/past_window_data/hall',
  '/api/compare_data?a=hall&b=porch',
  '/device/hall',
  '/openapi.json',
]
/** Figures of a bucket, in the order of the columns. */
const figures = {
  gauge: ['count', 'mean', 'min', 'max'],
  counter: ['count', 'increase', 'last'],
  direction: ['count', 'mean'],
  state: ['count', 'last', 'min', 'max'],
  rate: ['count', 'sum', 'min', 'max'],
}

const last = Date.parse(lines.at(-1)?.split(',')[0] ?? '')
await until('the live state is read', async () => (await get('/api/latest/hall')).status === 200)
await until('the readings are applied', async () =>
  (await get(`/api/readings/porch?${range}`)).text.includes(`${last}`),
)

for (const kind of [...metricKinds, 'gauge'] as const) {
  tap.test(`as a ${kind}`, async t => {
    const events = await fetch(`${url}/api/events?device=hall`)
    t.match(await service.admin('PATCH', '/metrics/sap_flow', { kind }), { status: 200 })
    for (const path of reads) t.match(await get(path), { status: 200 }, path)
    const [header] = (await get(`/api/readings/hall?${range}&step=3600&format=csv&metrics=sap_flow`)).text.split('\r\n')
    t.equal(header, `timestamp,device,${figures[kind].map(figure => `sap_flow_${figure}`).join()}`)
    const { metrics } = JSON.parse((await get('/api/stats_data/hall?metrics=sap_flow')).text)
    t.match(metrics, { sap_flow: { kind } })
    // Live, too, with what comes from now on.
    const put = await service.put('hall', passwords.hall, { device: 'hall', ...good, sap_flow: 7 })
    t.strictSame([put.status, await put.json()], [200, { status: 'success' }])
    await until('the latest value is told', async () =>
      (await get('/api/latest/hall')).text.includes('"sap_flow":{"v":7'),
    )
    t.match(await firstEvent(events), /"sap_flow":7/)
  })
}

async function firstEvent(response: Response): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(bytes, { stream: true })
    if (text.includes('event: reading')) break
  }
  return text
}

tap.test('nothing of it is in the log as an error', async t => {
  const levels = service
    .output()
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => (JSON.parse(line) as { level: number | string }).level)
  t.notOk(levels.some(level => level === 'error' || level === 'fatal' || Number(level) >= 50))
})
