/** Points written by InfluxDB's own client to the whole service, and read back by its API. */

import { InfluxDB, Point } from '@influxdata/influxdb-client'
import t from 'tap'
import { startService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const service = await startService(t)
const password = await service.addDevice('porch')
const timeMs = Date.now() - 600_000

interface Series {
  device: string
  temperature: { v: number }[]
  humidity: { v: number }[]
}

async function latest(): Promise<Series | undefined> {
  const response = await fetch(`${service.url}/api/latest/all/24`)
  if (response.status !== 200) return undefined
  const { data } = (await response.json()) as { data: Series[] }
  return data.find(({ device }) => device === 'porch')
}

function write(points: Point[]): Promise<void> {
  const influxdb = new InfluxDB({ url: service.url, token: `porch:${password}`, timeout: 300_000 })
  const api = influxdb.getWriteApi('any', 'any', 'ns', { maxRetries: 0, flushInterval: 0 })
  api.writePoints(points)
  return api.close()
}

const point = (ms: number) => new Point('weather').tag('device', 'porch').timestamp(`${ms}000000`)

t.test('fields of one time in lines of their own are read back as one reading', async t => {
  await write([
    point(timeMs).floatField('temperature', 20.5),
    point(timeMs).intField('humidity', 40),
    point(timeMs + 60_000).floatField('temperature', 21.5),
  ])
  await waitFor('the points are read back', async () => (await latest())?.temperature.length === 2)
  const shown = await latest()
  t.match(shown, { temperature: [{ v: 20.5 }, { v: 21.5 }], humidity: [{ v: 40 }] })
  t.equal(shown?.humidity.length, 1)
})

t.test('a later body replaces the whole reading', async t => {
  await write([point(timeMs).intField('humidity', 41), point(timeMs + 120_000).floatField('temperature', 22.5)])
  const day = async () => {
    const response = await fetch(`${service.url}/api/data/day/porch/${new Date(timeMs).toISOString().slice(0, 10)}`)
    return (await response.json()) as Pick<Series, 'temperature' | 'humidity'>
  }
  await waitFor('the later body is read back', async () => (await day()).humidity?.some(({ v }) => v === 41))
  t.notOk((await day()).temperature.some(({ v }) => v === 20.5))
})

t.test('the service is found by what clients ask first', async t => {
  t.match(await (await fetch(`${service.url}/health`)).json(), { status: 'pass' })
  t.equal((await fetch(`${service.url}/health/ready`)).status, 200, 'beside its own paths')
  t.equal((await fetch(`${service.url}/ping`)).headers.get('x-influxdb-version'), '1.8.10')
})
