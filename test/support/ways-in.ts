/** Each write path of a whole service, so that one reading can be sent by all of them. */

import { connectAsync } from 'mqtt'
import type { TestHooks } from './databases.ts'
import { basic, type Service } from './service.ts'

type Sent = Record<string, unknown> & { timestamp: number; device: string }
/** True if the response says that the reading is stored. */
export type Send = (reading: Sent) => Promise<boolean>

function cellOf(value: unknown): string {
  return value === null ? '' : typeof value === 'string' ? `"${value}"` : String(value)
}

function csvOf(reading: Sent): string {
  const names = Object.keys(reading).map(name => (/[ ",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name))
  return `${names.join()}\n${Object.values(reading).map(cellOf).join()}\n`
}

function lineOf({ timestamp, device, ...fields }: Sent): string {
  const given = Object.entries(fields).filter(([, value]) => value !== null)
  const escaped = (name: string) => name.replace(/[ ,=]/g, '\\$&')
  const fieldOf = ([name, value]: [string, unknown]) =>
    `${escaped(name)}=${typeof value === 'string' ? `"${value}"` : String(value)}`
  return `w,device=${device} ${given.map(fieldOf).join()} ${timestamp}`
}

/** Makes the devices: `listing` lists co2 and temperature, `supply` voltage and the charge of its battery. */
export async function waysInto(t: TestHooks, service: Service, port: number): Promise<Record<string, Send>> {
  const listing = { metrics: ['co2', 'temperature'] }
  const passwords: Record<string, string> = {
    hall: await service.addDevice('hall'),
    listing: await service.addDevice('listing', listing),
    supply: await service.addDevice('supply', { metrics: ['voltage', 'battery_percentage'] }),
  }
  const post = async (path: string, type: string, body: string, { device }: Sent): Promise<Response> => {
    const authorization = basic(device, passwords[device] ?? '')
    const headers = { authorization, 'content-type': type }
    return await fetch(`${service.url}${path}`, { method: 'POST', headers, body })
  }
  const batch = (type: string, bodyOf: (reading: Sent) => string): Send => {
    return async reading => {
      const response = await post('/api/log/batch', type, bodyOf(reading), reading)
      const { stored, rejected } = (await response.json()) as { stored: number; rejected: number }
      if (stored + rejected !== 1) throw new Error(`${response.status}: ${stored} stored, ${rejected} rejected`)
      return stored === 1
    }
  }
  const connect = async (device: string) => {
    const options = { username: device, password: passwords[device] ?? '', protocolVersion: 5 as const }
    const client = await connectAsync(`mqtt://127.0.0.1:${port}`, options)
    t.teardown(() => void client.end(true))
    return client
  }
  const clients = { hall: await connect('hall'), listing: await connect('listing'), supply: await connect('supply') }
  return {
    put: async reading => (await service.put(reading.device, passwords[reading.device] ?? '', reading)).status === 200,
    json: batch('application/json', reading => JSON.stringify([reading])),
    ndjson: batch('application/x-ndjson', reading => JSON.stringify(reading)),
    csv: batch('text/csv', csvOf),
    import: async reading => (await service.postImport(csvOf(reading))).accepted === 1,
    'line protocol': async reading => {
      const { status } = await post('/write?precision=ms', 'text/plain', lineOf(reading), reading)
      return status === 204
    },
    async webhook({ timestamp: ts, device, ...values }) {
      const body = JSON.stringify({ ts, values })
      const response = await post('/in/thingsboard', 'application/json', body, { timestamp: ts, device })
      return response.status === 200
    },
    async mqtt(reading) {
      const client = clients[reading.device as keyof typeof clients]
      const published = client.publishAsync(`readings/${reading.device}`, JSON.stringify(reading), { qos: 1 })
      return await published.then(
        () => true,
        () => false,
      )
    },
  }
}
