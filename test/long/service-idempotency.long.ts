/** Idempotency keys of single readings over the death of the service at each of the dangerous lines. */

import { once } from 'node:events'
import { join } from 'node:path'
import tap from 'tap'
import { injecting } from '../faults/injection/settings.ts'
import { temporaryFolder } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { type Service, startService, withoutQuestdb } from '../support/service.ts'

const good = (device: string) => ({ device, temperature: 21.5, humidity: 48, pressure: 1013.2 })
const keyed = (key: string) => ({ 'idempotency-key': key })

async function answerOf(response: Response): Promise<{ status: number; retryAfter: string | null; body: object }> {
  const { status, headers } = response
  return { status, retryAfter: headers.get('retry-after'), body: (await response.json()) as object }
}

/** The number of readings that the service shows for a device. The test may run at midnight. */
async function shown(service: Service, device: string): Promise<number> {
  const dayMs = 86_400_000
  let count = 0
  for (const timeMs of [Date.now() - dayMs, Date.now()]) {
    const response = await fetch(`${service.url}/api/data/day/${device}/${new Date(timeMs).toISOString().slice(0, 10)}`)
    if (response.status !== 200) return -1
    count += ((await response.json()) as { temperature: object[] }).temperature.length
  }
  return count
}

/** Waits until all is applied, so that nothing can come any more. */
async function drained(service: Service): Promise<void> {
  await until('QuestDB has applied all', async () => {
    return /^barograph_lag_readings 0$/m.test(await (await fetch(`${service.url}/metrics`)).text())
  })
}

/** Passes of `after-append` and `after-sync` before it are those of the new segment and of the reserved stamp. */
const deaths = ['stamp-reserved:1', 'key-claimed:1', 'after-append:3', 'after-sync:3', 'after-ack:1'] as const

tap.test('wherever the service dies, a reading that is sent again until its answer comes is stored once', async t => {
  const dataDirectory = join(temporaryFolder(t), 'data')
  const passwords = new Map<string, string>()
  const start = (environment: Record<string, string>) => startService(t, { dataDirectory, environment })
  const preparing = await start(withoutQuestdb)
  for (const death of deaths) passwords.set(nameOf(death), await preparing.addDevice(nameOf(death)))
  await preparing.end('SIGTERM')
  for (const death of deaths) {
    const service = await start({ ...withoutQuestdb, ...injecting({ FAIL_POINT: death }) })
    const name = nameOf(death)
    const died = once(service.child, 'exit')
    // It may have been answered before the death.
    await service.put(name, passwords.get(name) ?? '', good(name), keyed('first')).catch(() => undefined)
    t.strictSame(await died, [null, 'SIGKILL'], death)
  }
  const service = await start({})
  for (const death of deaths) {
    const name = nameOf(death)
    const put = (body: object) => service.put(name, passwords.get(name) ?? '', body, keyed('first'))
    for (let attempt = 0; attempt < 2; attempt++) t.match(await answerOf(await put(good(name))), { status: 200 }, death)
    const other = await answerOf(await put({ ...good(name), temperature: 22 }))
    // Where the death came before the row, the row is that of the first attempt after it.
    t.match(other, { status: 422, body: { status: 'idempotency key belongs to another request' } }, death)
    t.equal((await service.put(name, passwords.get(name) ?? '', good(name))).status, 200)
  }
  await drained(service)
  for (const death of deaths) {
    await until('its readings are shown', async () => (await shown(service, nameOf(death))) > 1)
    t.equal(await shown(service, nameOf(death)), 2, `${death}: one with the key and one without`)
  }
})

const nameOf = (death: string) => death.replace(':', '-')
