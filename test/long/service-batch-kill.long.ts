/** The service is killed in the middle of bulk bodies; then the journal is read from the disk. */

import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openDisk } from '../../ingest/journal/disk.ts'
import { groupHeaderLength } from '../../ingest/journal/group.ts'
import { SegmentReader } from '../../ingest/journal/segment-reader.ts'
import { temporaryFolder } from '../support/databases.ts'
import { readReading } from '../support/journal-parts.ts'
import { until } from '../support/processes.ts'
import { basic, type Service, startService, withoutQuestdb } from '../support/service.ts'

const startMs = Date.UTC(2026, 0, 1)
const readingsPerBody = 300
/** Of a body that is still being sent when the kill comes. */
const readingsOfLongBody = 20_000
const header = 'timestamp,device,temperature,humidity,pressure\n'

interface Body {
  firstMs: number
  isStrict: boolean
  isAcknowledged: boolean
}

const temperatureOf = (timeMs: number) => ((timeMs / 1000) % 700) / 10

function lines(device: string, firstMs: number, count: number): string {
  const line = (timeMs: number) => `${new Date(timeMs).toISOString()},${device},${temperatureOf(timeMs)},50,1000\n`
  return Array.from({ length: count }, (_, index) => line(firstMs + index * 1000)).join('')
}

/** The times of all readings in the journal, by device. */
function timesInJournal(directory: string): Map<string, Set<number>> {
  const times = new Map<string, Set<number>>()
  const reader = new SegmentReader(openDisk(directory))
  for (let position = 0; ; ) {
    const { bytes, groups, position: from, next } = reader.read(position, Number.MAX_SAFE_INTEGER)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    for (const group of groups) {
      const start = group.position - from + groupHeaderLength
      for (let at = start; at < start + group.bodyLength; at += view.getUint16(at, true)) {
        const { symbol, timeUs, reading } = readReading(view, at)
        t.equal(reading.temperature, temperatureOf(timeUs / 1000), 'a reading is stored as it was sent')
        times.set(symbol, (times.get(symbol) ?? new Set()).add(timeUs / 1000))
      }
    }
    if (groups.length === 0 && next <= from) break
    if (next >= Number.MAX_SAFE_INTEGER) break
    position = next
  }
  reader.close()
  return times
}

async function post(
  service: Service,
  device: string,
  password: string,
  body: string | ReadableStream,
  query: string,
): Promise<number> {
  const headers = { authorization: basic(device, password), 'content-type': 'text/csv' }
  const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
  const response = await fetch(`${service.url}/api/log/batch${query}`, init)
  const answer = (await response.json()) as { stored: number }
  return response.status === 200 ? answer.stored : -1
}

/** Sends bodies one after the other until the service is gone. */
async function sendBodies(service: Service, device: string, password: string, bodies: Body[]): Promise<void> {
  for (;;) {
    const body: Body = {
      firstMs: startMs + bodies.length * readingsPerBody * 1000,
      isStrict: bodies.length % 2 === 0,
      isAcknowledged: false,
    }
    bodies.push(body)
    try {
      const text = header + lines(device, body.firstMs, readingsPerBody)
      const stored = await post(service, device, password, text, body.isStrict ? '?strict=1' : '')
      body.isAcknowledged = stored === readingsPerBody
    } catch {
      return
    }
  }
}

/** A body of many chunks, whose sender is slow. */
async function sendLongBody(service: Service, password: string): Promise<void> {
  async function* pieces() {
    yield Buffer.from(header)
    for (let index = 0; index < readingsOfLongBody; index += 100) {
      yield Buffer.from(lines('long', startMs + index * 1000, 100))
    }
    // It never ends.
    await new Promise(() => undefined)
  }
  await post(service, 'long', password, ReadableStream.from(pieces()), '').catch(() => undefined)
}

function checkBodies(t: Test, name: string, sent: readonly Body[], times: ReadonlySet<number>): void {
  for (const { firstMs, isAcknowledged } of sent) {
    const wanted = Array.from({ length: readingsPerBody }, (_, index) => firstMs + index * 1000)
    const count = wanted.filter(timeMs => times.has(timeMs)).length
    if (isAcknowledged) t.equal(count, readingsPerBody, `${name}: an acknowledged body is there`)
    else t.ok(count === 0 || count === readingsPerBody, `${name}: of a body without an answer ${count}`)
  }
}

t.test('after a kill, every acknowledged body is there as a whole, and no body of one group by half', async t => {
  const dataDirectory = join(temporaryFolder(t), 'data')
  const names = ['one', 'two', 'three']
  const bodies = new Map<string, Body[]>(names.map(name => [name, []]))
  const passwords = new Map<string, string>()
  for (let round = 0; round < 3; round++) {
    const service = await startService(t, { dataDirectory, environment: withoutQuestdb })
    if (round === 0) {
      for (const name of [...names, 'long']) passwords.set(name, await service.addDevice(name))
    }
    const senders = names.map(name => sendBodies(service, name, passwords.get(name) ?? '', bodies.get(name) ?? []))
    void sendLongBody(service, passwords.get('long') ?? '')
    const acknowledged = () => [...bodies.values()].flat().filter(({ isAcknowledged }) => isAcknowledged).length
    const before = acknowledged()
    await until('bodies are acknowledged', () => acknowledged() >= before + 10)
    await service.killAll()
    await Promise.all(senders)
    const found = timesInJournal(join(dataDirectory, 'journal'))
    for (const [name, sent] of bodies) {
      const times = [...found].find(([symbol]) => symbol.startsWith(`${name}-`))?.[1] ?? new Set()
      checkBodies(t, name, sent, times)
    }
  }
})
