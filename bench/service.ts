/** The service for a bench, on databases that the bench can query, with devices and a prepared request for each. */

import { silentLog } from '../test/support/databases.ts'
import { type Service, startService } from '../test/support/service.ts'
import type { Hooks } from './measure.ts'
import { type BenchStore, startBenchStore } from './store.ts'

export interface BenchService {
  store: BenchStore
  service: Service
  port: number
  /** The settings that the service runs with, to start it again with the same ones. */
  environment: Record<string, string>
  /** `PUT /api/log` as it goes over the wire, one for each device, with three values. */
  requests: string[]
  /** The same with custom values beside those. */
  customRequests(count: number): string[]
}

export interface Credentials {
  device: string
  password: string
}

const devicesPerCall = 10_000

/** `words`: of its command line, such as a role. `databases`: those that it uses, when they have been started. */
export async function startBenchService(
  hooks: Hooks,
  deviceCount: number,
  settings: Record<string, string> = {},
  words: readonly string[] = [],
  databases?: BenchStore,
): Promise<BenchService> {
  const store = databases ?? (await startBenchStore(hooks, silentLog))
  const limits = { DEVICE_RATE: '1000000', DEVICE_BURST: '10000000', BULK_RATE: '10000000', BULK_BURST: '1000000000' }
  const environment = { ...store.environment, ...limits, ...settings }
  const command: [string, ...string[]] = [process.execPath, 'service/main.ts', ...words]
  const service = await startService(hooks, { environment, command })
  const added = await addDevices(service, deviceCount)
  const customRequests = (count: number) => added.map(credentials => putRequest(credentials, count))
  const port = Number(new URL(service.url).port)
  return { store, service, port, environment, requests: customRequests(0), customRequests }
}

export function deviceName(index: number): string {
  return `logger ${index}`
}

/** The total number of devices, including the `present` ones. */
export async function addDevices(service: Service, deviceCount: number, present = 0): Promise<Credentials[]> {
  const added: Credentials[] = []
  for (let from = present; from < deviceCount; from += devicesPerCall) {
    const length = Math.min(devicesPerCall, deviceCount - from)
    const devices = Array.from({ length }, (_, index) => ({ name: deviceName(from + index) }))
    const { status, body } = await service.admin('POST', '/devices', devices)
    if (status !== 201) throw new Error(`the devices were not made: ${status}`)
    added.push(...(body as Credentials[]))
  }
  return added
}

function putRequest({ device, password }: Credentials, customCount: number): string {
  const values = { temperature: 15 + (device.length % 7) / 10, humidity: 51.5, pressure: 1013.25 }
  const custom = Array.from({ length: customCount }, (_, place) => [`bench_${place}`, place + 0.25])
  const body = JSON.stringify({ device, ...values, ...Object.fromEntries(custom) })
  return [
    'PUT /api/log HTTP/1.1',
    'host: 127.0.0.1',
    `authorization: Basic ${Buffer.from(`${device}:${password}`).toString('base64')}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    '',
    body,
  ].join('\r\n')
}
