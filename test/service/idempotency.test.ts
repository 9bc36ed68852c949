/** Idempotency keys of single readings, through the whole service and over its death at the dangerous lines. */

import { once } from 'node:events'
import { join } from 'node:path'
import tap, { type Test } from 'tap'
import { injecting } from '../faults/injection/settings.ts'
import { temporaryFolder } from '../support/databases.ts'
import { freeze } from '../support/frozen.ts'
import { serverPid, until } from '../support/processes.ts'
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

async function startOne(t: Test, environment: Record<string, string> = {}) {
  const service = await startService(t, { environment: { ...withoutQuestdb, ...environment } })
  const password = await service.addDevice('porch')
  const put = async (body: object, headers: Record<string, string>) =>
    await answerOf(await service.put('porch', password, body, headers))
  return { service, put }
}

tap.test('keys are refused with a reason, and readings without one never notice', async t => {
  const { service, put } = await startOne(t, { IDEMPOTENCY_KEYS_MAX: '2' })
  const success = { status: 200, body: { status: 'success' } }
  t.match(await put(good('porch'), keyed('"a')), {
    status: 400,
    body: { status: 'invalid idempotency key', detail: /^must/ },
  })
  t.match(await put({ ...good('porch'), temperature: 'x' }, keyed('a')), {
    status: 400,
    body: { status: 'invalid payload' },
  })
  t.match(await put(good('porch'), keyed('a')), success, 'a refused reading has no key')
  t.match(await put(good('porch'), keyed('"a"')), success)
  const timed = { ...good('porch'), timestamp: Date.now() }
  t.match(await put(timed, keyed('b')), success)
  t.match(await put(timed, keyed('b')), success)
  t.match(await put({ ...timed, timestamp: timed.timestamp - 1 }, keyed('b')), { status: 422 })
  t.match(await put(good('porch'), keyed('c')), {
    status: 429,
    retryAfter: '600',
    body: { status: 'too many idempotency keys' },
  })
  t.match(await put({ ...good('porch'), device: 'barn' }, keyed('c')), { status: 403 })
  const thaw = freeze(serverPid({ path: service.dataDirectory }, 'postgres'))
  try {
    const away = await put(good('porch'), keyed('a'))
    t.match(away, { status: 503, retryAfter: '5', body: { status: 'database unavailable' } })
    t.match(await put(good('porch'), {}), success)
  } finally {
    thaw()
  }
  await until('keys count again', async () => (await put(good('porch'), keyed('a'))).status === 200)
})

/** The temperatures that clients of events are told from now on. */
async function listen(t: Test, { url }: Service): Promise<() => number[]> {
  const { body } = await fetch(`${url}/api/events`)
  if (body === null) throw new Error('there is no stream')
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  t.teardown(() => reader.cancel())
  let text = (await reader.read()).value ?? ''
  const readOn = async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value
  }
  readOn().catch(() => undefined)
  return () => [...text.matchAll(/^data: .*"temperature":([\d.]+)/gm)].map(([, value]) => Number(value))
}

tap.test('sixteen at once and others behind them are one row, and told once', async t => {
  const service = await startService(t)
  const password = await service.addDevice('porch')
  const told = await listen(t, service)
  const put = async (body: object, key: string) =>
    await answerOf(await service.put('porch', password, body, keyed(key)))
  const timed = { ...good('porch'), temperature: 3, timestamp: Date.now() - 1000 }
  const once = Array.from({ length: 16 }, async () => await put(good('porch'), 'k'))
  for (const answer of await Promise.all(once)) t.match(answer, { status: 200, body: { status: 'success' } })
  t.equal((await put(good('porch'), 'k')).status, 200)
  for (let attempt = 0; attempt < 2; attempt++) t.equal((await put(timed, 'timed')).status, 200)
  await service.put('porch', password, { ...good('porch'), temperature: 9, timestamp: Date.now() - 60_000 })
  await until('the last one is told', () => told().includes(9))
  t.strictSame(told(), [21.5, 3, 9])
  await drained(service)
  await until('they are shown', async () => (await shown(service, 'porch')) > 2)
  t.equal(await shown(service, 'porch'), 3)
})
