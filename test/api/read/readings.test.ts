/** Reads of a range, asked of the whole service with both its databases. */

import { once } from 'node:events'
import http from 'node:http'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { parquetReadObjects } from 'hyparquet'
import t from 'tap'
import { metrics } from '../../../store/tables.ts'
import { serverPid, until } from '../../support/processes.ts'
import { readClient, refusing } from '../../support/reading-client.ts'
import { startService } from '../../support/service.ts'

const service = await startService(t)
const port = Number(new URL(service.url).port)
const ask = readClient(port)
const refuses = refusing(ask)

const minuteMs = 60_000
const count = 50_000
const startMs = Date.UTC(2026, 0, 10, 0, 0, 30)
const endMs = startMs + count * minuteMs
const name = 'Küche, "N"'
const path = `/readings/${encodeURIComponent(name)}`

type Row = { ts: number } & Partial<Record<(typeof metrics)[number], number>>
/** Every other one without humidity; the battery's voltage is told now and then. */
const rows = Array.from({ length: count }, (_, i): Row => {
  const ts = startMs + i * minuteMs
  const temperature = 20 + Math.sin(i / 1440) * (i % 7)
  const more = { ...(i % 2 === 0 ? { humidity: i % 101 } : {}), pressure: 1000 + i / 3000 }
  return { ts, temperature, ...more, ...(i % 1000 === 0 ? { battery_voltage: 3 } : {}) }
})

await service.addDevice(name)
await service.addDevice('Copy')
await service.addDevice('Empty')
const header = `timestamp,device,${metrics.join()}`
const quotedName = `"${name.replaceAll('"', '""')}"`
const lines = rows.map(({ ts, ...row }) => {
  return `${new Date(ts).toISOString()},${quotedName},${metrics.map(metric => row[metric] ?? '').join()}`
})
await service.import(`${header}\n${lines.join('\n')}\n`)
const lag = async () => await (await fetch(`${service.url}/metrics`)).text()
const applied = () => until('queries show all readings', async () => /^barograph_lag_readings 0$/m.test(await lag()))
await applied()

const all = `start=${startMs}&end=${endMs}`
const get = async (search: string, headers = {}) => {
  const answer = await ask(`${path}?${search}`, headers)
  t.equal(answer.status, 200, answer.status === 200 ? search : answer.bytes.toString())
  return answer
}

async function parquetRows(file: Buffer): Promise<Record<string, unknown>[]> {
  const compressors = { ZSTD: (page: Uint8Array) => new Uint8Array(zstdDecompressSync(page)) }
  return await parquetReadObjects({ file: new Uint8Array(file).buffer, compressors })
}

/** Without the cells that are empty. */
const told = (row: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(row).filter(([, cell]) => cell !== null))

function csvRows(text: string): Record<string, unknown>[] {
  const [head = '', ...table] = text.split('\r\n').slice(0, -1)
  const columns = head.split(',')
  return table.map(line => {
    const cells = line.replace(quotedName, 'name').split(',')
    const values = columns.map((column, i) => [column, cells[i] === '' ? null : Number(cells[i])])
    const { timestamp: _, device: __, ...row } = told(Object.fromEntries(values))
    return { ts: Date.parse(cells[0] ?? ''), ...row }
  })
}

/** The rows in every format; the first ones of an array, for the rest is compared as one. */
async function inEveryFormat(search: string): Promise<Record<string, unknown>[][]> {
  const json = (await get(search)).bytes
  const ndjson = (await get(`${search}&format=ndjson`)).bytes.toString()
  const csv = (await get(`${search}&format=csv`)).bytes.toString()
  const parquet = await parquetRows((await get(`${search}&format=parquet`)).bytes)
  return [
    JSON.parse(json.toString()),
    ndjson
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line)),
    csvRows(csv),
    parquet.map(({ timestamp, device, ...row }) => {
      if (device !== name) t.fail(`a row of ${device}`)
      const cells = Object.entries(row).map(([key, cell]) => [key, typeof cell === 'bigint' ? Number(cell) : cell])
      return { ts: (timestamp as Date).getTime(), ...told(Object.fromEntries(cells)) }
    }),
  ]
}

t.test('every format has the same rows, oldest first', async t => {
  for (const [index, found] of (await inEveryFormat(all)).entries()) {
    t.equal(found.length, count)
    t.ok(JSON.stringify(found) === JSON.stringify(rows), `format ${index}`)
  }
  const part = `start=${new Date(startMs + minuteMs).toISOString()}&end=${startMs + 3 * minuteMs}`
  for (const found of await inEveryFormat(part)) t.strictSame(found, rows.slice(1, 3), 'the end is not included')
  for (const found of await inEveryFormat('start=0&end=5')) t.strictSame(found, [])
  t.strictSame(JSON.parse((await ask('/readings/Empty?start=0&end=1000')).bytes.toString()), [])
})

t.test('each format has its media type', async t => {
  const types = {
    json: 'application/json; charset=utf-8',
    ndjson: 'application/x-ndjson',
    csv: 'text/csv; charset=utf-8',
    parquet: 'application/vnd.apache.parquet',
  }
  for (const [format, type] of Object.entries(types)) {
    const answer = await get(`start=0&end=5&format=${format}`)
    const named =
      format === 'json'
        ? undefined
        : new RegExp(`^attachment; filename="[A-Za-z0-9.-]+_[\\dTZ-]+_[\\dTZ-]+\\.${format}"$`)
    t.match(answer.headers['content-disposition'] ?? '', named ?? /^$/)
    t.match(answer.headers, { 'content-type': type, vary: 'accept, accept-encoding', 'cache-control': 'no-cache' })
    const accepted = await get('start=0&end=5', { accept: type.replace('; charset=utf-8', '') })
    t.equal(accepted.headers['content-type'], type)
    const head = await ask(`${path}?start=0&end=5&format=${format}`, {}, 'HEAD')
    t.strictSame([head.status, head.headers['content-type'], head.bytes.length], [200, type, 0])
  }
})

t.test('a body is compressed as the client likes it', async t => {
  const plain = (await get(all)).bytes
  const coded = { gzip: gunzipSync, zstd: zstdDecompressSync }
  for (const [coding, decode] of Object.entries(coded)) {
    const answer = await get(all, { 'accept-encoding': coding })
    t.equal(answer.headers['content-encoding'], coding)
    t.ok(answer.bytes.length < plain.length / 3)
    t.ok(decode(answer.bytes).equals(plain), coding)
  }
  t.equal((await get(all, { 'accept-encoding': 'br' })).headers['content-encoding'], undefined)
  t.equal((await get(`${all}&format=parquet`, { 'accept-encoding': 'gzip' })).headers['content-encoding'], undefined)
})

/** The figures of all readings in [fromMs, toMs), by buckets that are aligned to 1970. */
function recomputed(stepSeconds: number, fromMs: number, toMs: number): Record<string, number>[] {
  const buckets = new Map<number, Row[]>()
  for (const row of rows.filter(({ ts }) => ts >= fromMs && ts < toMs)) {
    const bucket = Math.floor(row.ts / 1000 / stepSeconds) * stepSeconds * 1000
    buckets.set(bucket, [...(buckets.get(bucket) ?? []), row])
  }
  return [...buckets].map(([ts, members]) => {
    const figures = metrics.flatMap(metric => {
      const values = members.flatMap(row => row[metric] ?? [])
      if (values.length === 0) return []
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length
      return Object.entries({ count: values.length, mean, min: Math.min(...values), max: Math.max(...values) }).map(
        ([figure, value]) => [`${metric}_${figure}`, value] as const,
      )
    })
    return { ts, ...Object.fromEntries(figures) }
  })
}

t.test('with a step there are means, minima, maxima and counts by buckets', async t => {
  // 601 s fits no day, and many buckets of 60 s take several pieces.
  for (const [step, fromMs, toMs] of [
    [60, startMs, endMs],
    [601, startMs + 12_345, endMs - 777_000],
    [3600, startMs - 3_600_000, startMs + 86_400_000],
    [86_400, startMs + 5 * minuteMs, endMs],
  ] as const) {
    const wanted = recomputed(step, fromMs, toMs)
    const rounded = (found: object[]) =>
      JSON.stringify(found, (key, value) => (key.endsWith('_mean') ? Number(value.toPrecision(10)) : value))
    for (const [index, found] of (await inEveryFormat(`start=${fromMs}&end=${toMs}&step=${step}`)).entries()) {
      t.equal(found.length, wanted.length)
      t.ok(rounded(found) === rounded(wanted), `step ${step}, format ${index}`)
    }
  }
})

t.test('CSV goes in again as the readings of another device', async t => {
  const { bytes } = await get(`${all}&format=csv`)
  const text = bytes.toString()
  t.equal(text.slice(0, header.length + 2), `${header}\r\n`)
  await service.import(text.replaceAll(quotedName, 'Copy'))
  await applied()
  const copied = await ask(`/readings/Copy?${all}`)
  t.ok(copied.bytes.equals((await get(all)).bytes))
})

t.test('what cannot be answered is refused in the shape of the logger', async t => {
  await refuses(t, '/readings/Nobody?start=0', 404, /^device unknown$/)
  await refuses(t, path, 400, /^start is required$/)
  await refuses(t, `${path}?start=0`, 400, /366 days/)
  await refuses(t, `${path}?from=0&to=1`, 400, /^unknown parameter from; did you mean start\?$/)
  await refuses(t, `${path}?start=0&end=1&stop=2`, 400, /^unknown parameter stop; did you mean end\?$/)
  const answer = await ask(`${path}?start=0&end=1`, {}, 'POST')
  t.strictSame([answer.status, answer.headers.allow], [405, 'GET, HEAD, OPTIONS'])
  const request = http.request({ port, host: '127.0.0.1', path: `/api${path}?${all}`, agent: false })
  // Node writes its own version; the line is rewritten on the way.
  const write = request.once('socket', socket => {
    const send = socket.write.bind(socket)
    socket.write = ((text: string, ...rest: never[]) => send(text.replace('HTTP/1.1', 'HTTP/1.0'), ...rest)) as never
  })
  write.end()
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  t.equal(response.statusCode, 505)
  response.resume()
})

t.test('an answer that QuestDB leaves behind breaks off', async t => {
  for (const headers of [{}, { 'accept-encoding': 'gzip' }]) {
    const request = http.get({ port, host: '127.0.0.1', path: `/api${path}?${all}`, agent: false, headers })
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    t.equal(response.statusCode, 200)
    const fault = once(response, 'error')
    process.kill(serverPid({ path: service.dataDirectory }, 'questdb'), 'SIGKILL')
    response.resume()
    t.match(await fault, [{ code: 'ECONNRESET' }])
    t.notOk(response.complete)
    await until('it is there again', async () => (await ask(`${path}?start=0&end=5`)).status === 200)
  }
  t.match(service.output(), /read of a range failed, response cut off/)
})
