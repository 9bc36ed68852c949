/** A metric whose kind changes while readings arrive: reads, streams and exports afterwards. */

import t from 'tap'
import { sharedService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const service = await sharedService(t)
const { url } = service
const device = 'kinds-hall'
const metric = 'kinds_flow'
const hourMs = 3_600_000
const startMs = Math.floor(Date.now() / hourMs) * hourMs - 3 * hourMs

const text = async (path: string) => await (await fetch(`${url}${path}`)).text()
const range = `start=${startMs}&end=${startMs + 4 * hourMs}&step=3600`
const header = async () =>
  (await text(`/api/readings/${device}?${range}&format=csv&metrics=${metric}`)).split('\r\n')[0]

async function firstEvent(response: Response): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(bytes, { stream: true })
    if (text.includes('event: reading')) break
  }
  return text
}

t.test('a changed kind counts in each read and in the stream', async t => {
  const password = await service.addDevice(device)
  const lines = Array.from({ length: 12 }, (_, at) => {
    return `${new Date(startMs + at * 900_000).toISOString()},${device},20,50,1000,${at / 2 - 2}`
  })
  await service.import(`timestamp,device,temperature,humidity,pressure,${metric}\n${lines.join('\n')}\n`)
  const mean = ['count', 'mean', 'min', 'max'].map(figure => `${metric}_${figure}`).join()
  await waitFor('the hours are there', async () => (await header()) === `timestamp,device,${mean}`)
  const events = await fetch(`${url}/api/events?device=${device}`)
  t.match(await service.admin('PATCH', `/metrics/${metric}`, { kind: 'counter' }), { status: 200 })
  t.equal(await header(), `timestamp,device,${metric}_count,${metric}_increase,${metric}_last`)
  const { metrics } = JSON.parse(await text(`/api/stats_data/${device}?metrics=${metric}`))
  t.match(metrics, { [metric]: { kind: 'counter' } })
  const put = await service.put(device, password, { device, temperature: 21, [metric]: 7 })
  t.strictSame(await put.json(), { status: 'success' })
  await waitFor('the latest value is shown', async () =>
    (await text(`/api/latest/${device}`)).includes(`"${metric}":{"v":7`),
  )
  t.match(await firstEvent(events), `"${metric}":7`)
})
