/** Starting, watching and stopping the service as an operator does. */

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect, createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { connectAsync } from 'mqtt'
import { test } from 'tap'
import { makeCertificate } from '../support/certificate.ts'
import { temporaryFolder } from '../support/databases.ts'
import { freezeProcess } from '../support/frozen.ts'
import { isRunning, serverPid, until } from '../support/processes.ts'
import { runToEnd } from '../support/run-program.ts'
import { basic, type Service, startService, withoutQuestdb } from '../support/service.ts'

const root = resolve(import.meta.dirname, '..', '..')
const payload = { device: 'kitchen', temperature: 20, humidity: 50, pressure: 1000 }

/** Runs the health check of the image as Docker does, with the settings of the service. */
async function isHealthy({ url }: Service, settings: Record<string, string> = {}): Promise<boolean> {
  const dockerfile = readFileSync(join(root, 'deploy', 'Dockerfile'), 'utf8').replaceAll('\\\n', '')
  const command = /^HEALTHCHECK .*?CMD (.+)$/m.exec(dockerfile)?.[1] ?? ''
  // Docker gives containers the proxy of its configuration; this one does not answer.
  const [http_proxy, https_proxy] = ['http://127.0.0.1:9', 'http://127.0.0.1:9']
  const environment = { PATH: process.env['PATH'], PORT: new URL(url).port, http_proxy, https_proxy, ...settings }
  const { status, stderr } = await runToEnd('sh', ['-c', command], { folder: '/', environment })
  if (status === 127) throw new Error(stderr)
  return status === 0
}

test('no client holds up the stop, which leaves no process behind, and the next start takes readings', async t => {
  const service = await startService(t, { isFirstStart: true })
  const password = await service.addDevice('kitchen')
  t.equal((await service.put('kitchen', password, payload)).status, 200)
  const head = `PUT /api/log HTTP/1.1\r\nhost: x\r\nauthorization: ${basic('kitchen', password)}\r\n`
  const sent = {
    nothing: '',
    'half a header': 'PUT /api/log HT',
    'half a body': `${head}content-type: application/json\r\ncontent-length: 50\r\n\r\n{`,
    'much, and reads nothing': 'GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(2000),
  }
  for (const text of Object.values(sent)) {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    t.teardown(() => socket.destroy())
    socket.on('error', () => undefined).pause()
    await once(socket, 'connect')
    socket.write(text)
  }
  await until('they were heard', async () => (await fetch(`${service.url}/health/live`)).ok)
  const pids = (['questdb', 'postgres'] as const).map(server => serverPid({ path: service.dataDirectory }, server))
  t.ok(pids.every(isRunning))
  t.equal(await service.end('SIGTERM'), 0, 'the time for an orderly stop was enough')
  t.strictSame(pids.filter(isRunning), [])
  t.notOk(await isHealthy(service), 'a service that is gone')
  t.match(service.output(), /"msg":"stopped"/)
  const again = await startService(t, { dataDirectory: service.dataDirectory })
  t.equal((await again.put('kitchen', password, payload)).status, 200)
})

test('a stop in the middle of the start cleans up too', async t => {
  const folder = temporaryFolder(t)
  const started = startService(t, { dataDirectory: join(folder, 'data') })
  started.catch(() => undefined)
  await until('the databases are on their way', () => {
    try {
      return serverPid({ path: join(folder, 'data') }, 'postgres') > 0
    } catch {
      return false
    }
  })
  const pid = serverPid({ path: join(folder, 'data') }, 'postgres')
  const service = execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)])
    .toString()
    .trim()
  process.kill(Number(service), 'SIGTERM')
  await t.rejects(started)
  await until('no server is left', () => !isRunning(pid))
})

test('a frozen QuestDB does not hold up the stop, is not left behind, and gets its readings later', async t => {
  const service = await startService(t)
  const password = await service.addDevice('kitchen')
  await service.put('kitchen', password, payload)
  const metrics = async () => await (await fetch(`${service.url}/metrics`)).text()
  await until('readings are forwarded', async () => /^barograph_lag_readings 0$/m.test(await metrics()))
  const pids = (['questdb', 'postgres'] as const).map(server => serverPid({ path: service.dataDirectory }, server))
  freezeProcess(pids[0] ?? 0)
  // For longer than the forwarder waits for more, so that a request to QuestDB is under way.
  for (const endMs = performance.now() + 1500; performance.now() < endMs; ) {
    await service.put('kitchen', password, payload)
  }
  t.equal(await service.end('SIGTERM'), 0, 'the time for an orderly stop was enough')
  t.match(service.output(), /"msg":"stopped"/)
  t.strictSame(pids.filter(isRunning), [])
  const again = await startService(t, { dataDirectory: service.dataDirectory })
  await until('the reading was applied', async () => {
    return (await (await fetch(`${again.url}/api/latest/all/24`)).text()).includes('kitchen')
  })
})

test('a second service on the same data directory is refused and names the first', async t => {
  const first = await startService(t, { environment: withoutQuestdb })
  const second = startService(t, { dataDirectory: first.dataDirectory, environment: withoutQuestdb })
  await t.rejects(second, new RegExp(`\\b${first.child.pid}\\b`))
  t.equal((await fetch(`${first.url}/health/live`)).status, 200)
})

test('a port, an address or a certificate that cannot be used is told before anything is started', async t => {
  const other = createServer().listen(0, '127.0.0.1')
  t.teardown(() => other.close())
  await once(other, 'listening')
  const address = other.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const wrong: [Record<string, string>, RegExp][] = [
    [{ PORT: String(port) }, /Port \d+ .* is in use.*set PORT/],
    // An address that is kept for documentation.
    [{ HOST: '192.0.2.1' }, /HOST 192\.0\.2\.1 is not an address of this machine: set it/],
    [
      { TLS_CERT: '/nowhere.pem', TLS_KEY: '/nowhere.pem' },
      /TLS_CERT \/nowhere\.pem cannot be read \(ENOENT\): set it/,
    ],
    [
      { TLS_CERT: 'package.json', TLS_KEY: 'package.json' },
      /TLS_KEY package\.json are not a matching certificate and key .*: set them/,
    ],
  ]
  for (const [environment, sentence] of wrong) {
    const dataDirectory = temporaryFolder(t)
    const started = startService(t, { environment, dataDirectory })
    await t.rejects(started, sentence)
    await t.rejects(started, { message: /^the service did not start: [^\n]+\n$/ }, 'one sentence, no stack')
    for (const server of ['questdb', 'postgres']) t.notOk(existsSync(join(dataDirectory, server, 'process')), server)
  }
})

test('a wrong setting stops the start with its name and what it should be', async t => {
  await t.rejects(startService(t, { environment: { TIME_ZONE: 'Mars/Olympus' } }), /TIME_ZONE must be an IANA zone/)
})

test('readiness is degraded while QuestDB is away, and metrics tell the lag', async t => {
  const service = await startService(t)
  const password = await service.addDevice('kitchen')
  const ready = async () => {
    const response = await fetch(`${service.url}/health/ready`)
    return { status: response.status, body: (await response.json()) as { status: string; reasons?: string[] } }
  }
  await until('it is ready', async () => (await ready()).body.status === 'ok')
  const questdb = serverPid({ path: service.dataDirectory }, 'questdb')
  freezeProcess(questdb)
  t.equal((await service.put('kitchen', password, payload)).status, 200, 'readings are taken')
  await until('it is degraded', async () => {
    const { status, body } = await ready()
    return status === 200 && body.status === 'degraded' && /QuestDB/.test(body.reasons?.join() ?? '')
  })
  t.ok(await isHealthy(service), 'the image is healthy as long as readings are taken')
  const metrics = await (await fetch(`${service.url}/metrics`)).text()
  t.match(metrics, /^barograph_readings_accepted_total 1$/m)
  t.match(metrics, /^barograph_lag_readings 1$/m)
  t.match(metrics, /^barograph_questdb_up 0$/m)
  t.match(metrics, /nodejs_eventloop_lag_p99_seconds/)
  const elsewhere = await fetch(`${service.url}/metrics`, { headers: { 'x-forwarded-for': '192.0.2.1' } })
  t.equal(elsewhere.status, 401, 'from elsewhere only with the admin token')
  process.kill(questdb, 'SIGCONT')
  await until('it is ready again', async () => (await ready()).body.status === 'ok')
  await until('the reading was applied', async () =>
    /^barograph_lag_readings 0$/m.test(await (await fetch(`${service.url}/metrics`)).text()),
  )
})

test('nothing is logged for a reading', async t => {
  const service = await startService(t, { environment: withoutQuestdb })
  const password = await service.addDevice('kitchen')
  const before = service.output().length
  const count = 20
  for (let index = 0; index < count; index++) await service.put('kitchen', password, { ...payload, temperature: index })
  // What belongs to the start may come meanwhile.
  const added = service.output().slice(before)
  t.notMatch(added, 'kitchen')
  t.ok(added.split('\n').length <= count, added)
})

test('with a certificate the service speaks HTTPS, and MQTT over TLS', async t => {
  const { key, cert } = makeCertificate(temporaryFolder(t))
  const environment = { ...withoutQuestdb, TLS_CERT: cert, TLS_KEY: key, MQTT_PORT: '0' }
  const service = await startService(t, { environment })
  t.match(service.url, /^https:/)
  const mqttPort = Number(/"port":(\d+)[^\n]*"msg":"MQTT listening"/.exec(service.output())?.[1])
  const broker = connectAsync(`mqtts://127.0.0.1:${mqttPort}`, { ca: readFileSync(cert), reconnectPeriod: 0 })
  await t.rejects(broker, /Bad username or password/, 'MQTT has the same certificate')
  const sent = request(`${service.url}/health/live`, { ca: readFileSync(cert) }).end()
  const [response] = await once(sent, 'response')
  t.equal(response.statusCode, 200)
  response.resume()
  t.ok(await isHealthy(service, { TLS_CERT: cert }))
})
