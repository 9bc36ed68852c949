/** What an acknowledgement is worth when processes are killed. */

import tap from 'tap'
import { freezeProcess } from '../support/frozen.ts'
import { isRunning, recordedPid, serverPid, until } from '../support/processes.ts'
import { type Service, startService } from '../support/service.ts'

const startMs = Date.now()

/** Temperatures since shortly before the test began that the service shows for the device; also at midnight. */
async function shownNow(service: Service, device: string): Promise<number[]> {
  const response = await fetch(`${service.url}/api/readings/${device}?start=${startMs - 60_000}`)
  if (response.status !== 200) return []
  return ((await response.json()) as { temperature: number }[]).map(({ temperature }) => temperature)
}

const payload = (device: string, temperature: number) => ({ device, temperature, humidity: 50, pressure: 1000 })

/** The one that comes up after the first kill serves the next tests too: a start is dear. */
let service: Service

tap.test('a reading can be read after a kill of everything right after its 200', async t => {
  const first = await startService(tap)
  const password = await first.addDevice('kitchen')
  const response = await first.put('kitchen', password, payload('kitchen', 21.5))
  t.equal(response.status, 200)
  await first.killAll()
  const second = await startService(tap, { dataDirectory: first.dataDirectory })
  service = second
  await until('the reading is shown', async () => (await shownNow(second, 'kitchen')).includes(21.5))
  t.equal((await second.put('kitchen', password, payload('kitchen', 22))).status, 200, 'the credential still counts')
})

tap.test('QuestDB killed under load comes back, and nothing is missing', async t => {
  const password = await service.addDevice('cellar')
  const taken: number[] = []
  let sending = true
  const sender = (async () => {
    for (let temperature = 0; sending && temperature < 80; temperature = Math.round((temperature + 0.01) * 100) / 100) {
      const response = await service.put('cellar', password, payload('cellar', temperature))
      if (response.status === 200) taken.push(temperature)
    }
  })()
  for (let kills = 0; kills < 2; kills++) {
    await until('some were taken', () => taken.length > 150 * (kills + 1))
    // No pid is recorded for the moment between two starts.
    let questdb: number | undefined
    await until('QuestDB runs', () => {
      questdb = recordedPid({ path: service.dataDirectory }, 'questdb')
      return questdb !== undefined && isRunning(questdb)
    })
    if (questdb !== undefined) process.kill(questdb, 'SIGKILL')
  }
  await until('more were taken meanwhile', () => taken.length > 600)
  sending = false
  await sender
  await until('all are shown', async () => (await shownNow(service, 'cellar')).length >= taken.length)
  t.strictSame(
    (await shownNow(service, 'cellar')).sort((a, b) => a - b),
    taken,
    'each once',
  )
})

tap.test('PostgreSQL killed comes back, and known devices never notice', async t => {
  const password = await service.addDevice('attic')
  process.kill(serverPid({ path: service.dataDirectory }, 'postgres'), 'SIGKILL')
  t.equal((await service.put('attic', password, payload('attic', 20))).status, 200)
  await until('a device can be added again', async () => {
    const { status } = await service.admin('POST', '/devices', { name: 'porch' })
    return status === 201
  })
  t.equal((await service.put('attic', password, payload('attic', 21))).status, 200)
})

tap.test('a full journal answers 503, loses nothing, and heals', async t => {
  const service = await startService(t, { environment: { JOURNAL_MAX: '1MiB' } })
  const password = await service.addDevice('barn')
  const questdb = serverPid({ path: service.dataDirectory }, 'questdb')
  t.equal((await service.put('barn', password, payload('barn', 1))).status, 200)
  freezeProcess(questdb)
  let taken = 1 + (await fillByImports(service, 'barn'))
  let refused: Response | undefined
  while (refused === undefined) {
    const response = await service.put('barn', password, payload('barn', 2))
    if (response.status === 200) taken++
    else refused = response
  }
  t.equal(refused?.status, 503)
  t.match(refused?.headers.get('retry-after'), /^\d+$/)
  t.strictSame(await refused?.json(), { status: 'storage full' })
  t.equal((await fetch(`${service.url}/health/ready`)).status, 503)
  process.kill(questdb, 'SIGCONT')
  await until('it takes readings again', async () => {
    const { status } = await service.put('barn', password, payload('barn', 3))
    if (status === 200) taken++
    return status === 200
  })
  await until('all are shown', async () => (await shownNow(service, 'barn')).length >= taken)
  t.equal((await shownNow(service, 'barn')).length, taken)
})

/** Imports, smaller and smaller ones, until the journal has no room for ten readings; how many were taken. */
async function fillByImports(service: Service, device: string): Promise<number> {
  let timeMs = Date.now() - 60_000
  let taken = 0
  for (let count = 10_000; count >= 10; count /= 10) {
    for (let status = 200; status === 200; ) {
      const lines = Array.from({ length: count }, () => `${device},${timeMs++},2,50,1000\n`)
      const answer = await service.postImport(`device,timestamp,temperature,humidity,pressure\n${lines.join('')}`)
      taken += answer.accepted
      status = answer.status
    }
  }
  return taken
}
