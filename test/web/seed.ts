/** Devices with made readings on a service, for the tests of its pages. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import type { ServiceClient } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

type Values = Readonly<Record<string, number>>
export type SeedReadings = readonly (readonly [atMs: number, values: Values])[]
type Seeds = Readonly<Record<string, { readonly settings?: object; readonly readings?: SeedReadings }>>

/** The times from one to another, both included, by default every ten minutes. */
export function times(fromMs: number, untilMs: number, stepMs = 10 * minuteMs): number[] {
  return Array.from({ length: Math.floor((untilMs - fromMs) / stepMs) + 1 }, (_, step) => fromMs + step * stepMs)
}

/** One wave a day. */
export const dayWave = (atMs: number) => Math.sin((2 * Math.PI * atMs) / dayMs)

export const air = (temperature: number, humidity = 50, pressure = 1010): Values => ({
  temperature,
  humidity,
  pressure,
})

/** Resolves with the passwords, once all readings can be queried: an answer of a part of them would be cached. */
export async function seed(service: ServiceClient, seeds: Seeds): Promise<Record<string, string>> {
  const passwords: Record<string, string> = {}
  const all = Object.entries(seeds).flatMap(([device, { readings = [] }]) =>
    readings.map(([atMs, values]) => ({ device, atMs, values })),
  )
  for (const [device, { settings }] of Object.entries(seeds)) {
    passwords[device] = await service.addDevice(device, { ...settings })
  }
  const metrics = [...new Set(all.flatMap(({ values }) => Object.keys(values)))]
  const rows = all.map(({ device, atMs, values }) =>
    [new Date(atMs).toISOString(), device, ...metrics.map(name => values[name] ?? '')].join(),
  )
  await service.import(`timestamp,device,${metrics.join()}\n${rows.join('\n')}\n`)
  await waitFor('the readings are applied', async () => {
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    const isApplied = metrics.includes('\nbarograph_lag_readings 0\n')
    // An answer takes the service some milliseconds.
    if (!isApplied) await sleep(200)
    return isApplied
  })
  return passwords
}

/** One of the catalogue may be there already. */
export async function addMetric(service: ServiceClient, metric: Record<string, unknown>): Promise<void> {
  const { status, body } = await service.admin('POST', '/metrics', metric)
  if (status !== 201 && status !== 409) throw new Error(`no metric was added: ${status} ${JSON.stringify(body)}`)
}

export function requestsOf(page: Page): URL[] {
  const asked: URL[] = []
  page.on('request', request => {
    if (request.url().includes('/api/')) asked.push(new URL(request.url()))
  })
  return asked
}
