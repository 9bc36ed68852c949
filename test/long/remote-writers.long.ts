/** The clients of Prometheus (a Go module) and OpenTelemetry (npm) store readings, which survive a kill. Needs Go and npm. */

import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { temporaryFolder } from '../support/databases.ts'
import { runToEnd } from '../support/run-program.ts'
import { startService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

test('samples and points of the clients are stored before the response', async t => {
  const folder = temporaryFolder(t)
  cpSync(join(import.meta.dirname, 'remote-writers'), folder, { recursive: true })
  const run = async (program: string, words: string[], more: Record<string, string> = {}) => {
    const { status, stdout, stderr } = await runToEnd(program, words, {
      folder,
      environment: { ...process.env, ...more },
    })
    t.equal(status, 0, `${program}: ${stderr.slice(-500)}`)
    return `${stdout}${stderr}`
  }
  await run('go', ['build', '-o', 'write', '.'])
  await run('npm', ['install', '--no-audit', '--no-fund', '--silent'])

  const service = await startService(t)
  const { dataDirectory } = service
  const porch = await service.addDevice('porch')
  const shed = await service.addDevice('shed')
  const write = (url: string, name: string, count: number) =>
    run('./write', [`${url}/api/v1/write`, name, porch, String(count)])
  t.equal(await write(service.url, 'porch', 2000), 'stored\n')
  t.match(await write(service.url, 'nobody', 1), /401 Unauthorized.* false$/m, 'not recoverable')
  const printed = await run('node', ['export.mjs'], {
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${service.url}/v1/metrics`,
    OTEL_EXPORTER_OTLP_METRICS_HEADERS: `authorization=${encodeURIComponent(`Bearer shed:${shed}`)}`,
  })
  t.equal(printed, '')
  await service.killAll()
  t.match(await write(service.url, 'porch', 1), /connection refused true$/m, 'recoverable')

  const { url } = await startService(t, { dataDirectory })
  const latest = async (device: string) => {
    const response = await fetch(`${url}/api/latest/${device}`)
    return response.ok ? ((await response.json()) as { values: Record<string, { v: number }> }).values : {}
  }
  await waitFor(
    'both are there',
    async () => 'temperature' in (await latest('porch')) && 'gate_gzip' in (await latest('shed')),
  )
  t.match(await latest('porch'), { temperature: { v: 1.999 } })
  t.match(await latest('shed'), {
    temperature: { v: 10 },
    gate_json: { v: 3 },
    gate_protobuf: { v: 3 },
    gate_gzip: { v: 3 },
  })
  const day = await fetch(`${url}/api/readings/porch?start=${Date.now() - 86_400_000}&format=csv`)
  t.equal((await day.text()).trim().split('\n').length, 2001)
})
