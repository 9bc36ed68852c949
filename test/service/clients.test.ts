/** The programs of the guides for clients, as on their pages, print the documented output. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { runInNewContext } from 'node:vm'
import tap, { type Test } from 'tap'
import { temporaryFolder } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { runToEnd } from '../support/run-program.ts'
import { sharedService } from '../support/service.ts'

const docs = resolve(import.meta.dirname, '..', '..', 'docs')
const folder = temporaryFolder(tap)
const service = await sharedService(tap)
const startMs = Date.now() - 86_400_000

/** The blocks of a language, in their order. */
function blocksOf(page: string, language: string): string[] {
  return page
    .split(`\n\`\`\`${language}\n`)
    .slice(1)
    .map(rest => rest.slice(0, rest.indexOf('\n```')))
}

/** Inserts the address and password of the test. */
function filledIn(text: string, password: string): string {
  return text.replaceAll('http://127.0.0.1:8080', service.url).replaceAll('PASSWORD', password)
}

const pageOf = (name: string) => readFileSync(join(docs, name), 'utf8')

async function storedOf(device: string): Promise<Record<string, number>[]> {
  const answer = await fetch(`${service.url}/api/readings/clients-${device}?start=${startMs}`)
  return answer.status === 200 ? ((await answer.json()) as Record<string, number>[]) : []
}

async function becomes(t: Test, device: string, count: number): Promise<void> {
  await until(`${count} readings are there`, async () => (await storedOf(device)).length === count)
  t.strictSame(Object.keys((await storedOf(device))[0] ?? {}), ['ts', 'temperature', 'humidity', 'pressure'])
}

/** A page names the device `porch`. Each test has its own one. */
const named = (text: string, device: string) => text.replaceAll('porch', `clients-${device}`)
const addDevice = (device: string) => service.addDevice(`clients-${device}`)

tap.test('curl sends a batch', async t => {
  const page = pageOf('clients.md')
  const [script = '', ...others] = blocksOf(page, 'sh')
  t.strictSame(others, [])
  const password = await addDevice('curl')
  const words = ['-euc', named(filledIn(script, password), 'curl')]
  const { status, stdout, stderr } = await runToEnd('sh', words, { folder, environment: process.env })
  t.match({ status, stderr }, { status: 0, stderr: '' })
  t.ok(page.includes(`prints \`${stdout.trim()}\``), stdout)
  await becomes(t, 'curl', 3)
})

function runPython(text: string) {
  const program = join(folder, 'program.py')
  writeFileSync(program, text)
  return runToEnd('python3', [program], { folder, environment: process.env })
}

tap.test('Python sends a reading and a batch', async t => {
  const page = pageOf('clients/python.md')
  const blocks = blocksOf(page, 'python')
  t.equal(blocks.length, 2)
  const password = await addDevice('python')
  const { status, stdout, stderr } = await runPython(named(filledIn(blocks.join('\n'), password), 'python'))
  t.match({ status, stderr }, { status: 0, stderr: '' })
  const lines = stdout.trim().split('\n')
  t.equal(lines.length, blocks.length)
  for (const line of lines) t.ok(page.includes(`prints \`${line}\``), line)
  await becomes(t, 'python', 61)
})

tap.test('Python ends with the reason of a reading that is refused', async t => {
  const page = pageOf('clients/python.md')
  const [block = ''] = blocksOf(page, 'python')
  const program = named(filledIn(block, await addDevice('refused')), 'refused')
  const { status, stderr } = await runPython(program.replace('humidity=48, ', 'humidity="48", '))
  t.equal(status, 1)
  t.ok(page.includes(`\`${stderr.trim()}\``), stderr)
})

tap.test('the Raspberry Pi at home keeps rejected readings', async t => {
  const [block = '', ...others] = blocksOf(pageOf('at-home.md'), 'python')
  t.strictSame(others, [])
  const password = await addDevice('pi')
  await service.admin('PATCH', '/devices/clients-pi', { metrics: ['temperature'] })
  const sent: number[] = []
  const proxy = createServer(async (request, response) => {
    const body = await textOf(request)
    sent.push(JSON.parse(body).length)
    if (sent.length < 3) return void response.writeHead(sent.length === 1 ? 503 : 429).end()
    const { authorization = '', 'content-type': type = '' } = request.headers
    const headers = { authorization, 'content-type': type }
    const answer = await fetch(`${service.url}${request.url}`, { method: request.method ?? '', headers, body })
    response.writeHead(answer.status).end(await answer.text())
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => proxy.close())
  const { port } = proxy.address() as AddressInfo
  const sensor = join(folder, 'temp')
  writeFileSync(sensor, '48312\n')
  const program = filledIn(block.replace('http://127.0.0.1:8080', `http://127.0.0.1:${port}`), password)
    .replace('"pi"', '"clients-pi"')
    .replace('/sys/class/thermal/thermal_zone0/temp', sensor)
    .replace('cpu_temperature', 'temperature')
    .replace('time.sleep(60)', 'time.sleep(0.2)')
  const file = join(folder, 'pi.py')
  writeFileSync(file, program)
  const child = spawn('python3', [file], { stdio: 'ignore' })
  t.teardown(() => child.kill())
  await until('four bodies were sent', async () => sent.length > 3)
  t.strictSame(sent.slice(0, 4), [1, 2, 3, 1])
  await until('the readings are there', async () => (await storedOf('pi')).length > 3)
  t.match(await storedOf('pi'), [{ temperature: 48.312 }])
})

type FlowNode = { wires?: string[][] } & Partial<Record<'id' | 'type' | 'func' | 'method' | 'url' | 'payload', string>>

interface Message {
  payload?: unknown
  headers?: Record<string, string>
  statusCode?: number | string
}

tap.test('the flow of Node-RED sends a reading and repeats rejected ones', async t => {
  const [text = ''] = blocksOf(pageOf('clients/node-red.md'), 'json')
  const password = await addDevice('flow')
  const nodes: FlowNode[] = JSON.parse(named(filledIn(text, password), 'flow'))
  const next = (from: FlowNode | undefined, output = 0) => {
    const [id, ...others] = from?.wires?.[output] ?? []
    t.strictSame(others, [])
    return nodes.find(node => node.id === id)
  }
  /** Runs a function as Node-RED does: a body with `msg`. */
  const run = (node: FlowNode | undefined, msg: Message) =>
    runInNewContext(`(msg => { ${node?.func} })`, { Buffer, Date })(msg)

  const inject = nodes.find(node => node.type === 'inject')
  const credentials = next(inject)
  const request = next(credentials)
  const stored = next(request)
  const message: Message = run(credentials, { payload: JSON.parse(inject?.payload ?? '') })
  const send = async () => {
    const init = { method: request?.method ?? '', headers: { ...message.headers, 'content-type': 'application/json' } }
    const answer = await fetch(request?.url ?? '', { ...init, body: JSON.stringify(message.payload) })
    return { statusCode: answer.status, payload: await answer.text() }
  }
  t.strictSame(await send(), { statusCode: 200, payload: '{"status":"success"}' })

  for (const statusCode of [200, 400, 404]) t.match(run(stored, { statusCode })[0], { statusCode })
  for (const statusCode of [429, 500, 503, 'ECONNREFUSED']) {
    const [taken, again] = run(stored, { ...message, payload: 'no JSON', statusCode })
    const wait = next(stored, 1)
    t.match({ taken, wait: wait?.type }, { taken: null, wait: 'delay' })
    t.same(run(next(wait), again).payload, message.payload, 'the same reading, with its time')
  }
  t.equal(next(stored)?.type, 'debug')
  t.equal((await send()).statusCode, 200)
  await becomes(t, 'flow', 1)
})

tap.test('the answer has the fields that Home Assistant reads', async t => {
  const page = pageOf('clients/home-assistant.md')
  const [configuration = ''] = blocksOf(page, 'yaml')
  const path = /resource: http:\/\/192\.168\.1\.20:8080(\/\S+)/.exec(configuration)?.[1] ?? ''
  const password = await addDevice('porch')
  const reading = { device: 'clients-porch', temperature: 21.4, humidity: 48, pressure: 1013.2 }
  await service.put('clients-porch', password, reading)
  const response = await fetch(`${service.url}${named(path, 'porch')}`)
  const answer = (await response.json()) as { state: string; values: Record<string, { v: number }> }
  const asked = [...configuration.matchAll(/value_json\['values'\]\.(\w+)\.v\b/g)].map(([, metric = '']) => metric)
  t.strictSame(asked, ['temperature', 'humidity'])
  t.match(answer.values, { temperature: { v: 21.4 }, humidity: { v: 48 } })
  const [, states = ''] = /value_json\['state'\] in \[(.+?)\]/.exec(configuration) ?? []
  t.ok(states.includes(`'${answer.state}'`), answer.state)
})
