/** What the health check promises: once it says `ok`, each read of the contract answers. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { OpenApiDocument } from '../../api/docs/contract.ts'
import { basicOf } from '../support/air-quality.ts'
import { startService } from '../support/service.ts'
import { addStations, makeStationKey } from '../support/station-keys.ts'
import { waitFor } from '../support/wait-for.ts'

/** For parameters that a read needs, by name; any other text of a path is that of no thing. */
const now = Date.now()
const values: Record<string, string> = {
  device: 'kitchen',
  sn: 'DEL-01',
  a: 'kitchen',
  b: 'kitchen',
  hours: '24',
  date: new Date(now).toISOString().slice(0, 10),
  start: String(now - 3_600_000),
  end: String(now),
  format: 'json',
}

/** The addresses of all reads. */
function readsOf({ paths }: OpenApiDocument): string[] {
  return Object.entries(paths).flatMap(([path, { get }]) => {
    // The drive is another service's, which none is set for.
    if (get === undefined || path.includes('/google-drive/')) return []
    const needed = (get.parameters ?? []).filter(parameter => parameter.in === 'query' && parameter.required)
    const query = new URLSearchParams(
      needed.map(({ name }) => [name, values[name] ?? '1'] as [string, string]),
    ).toString()
    return `${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '1')}${query === '' ? '' : `?${query}`}`
  })
}

t.test('from the first ok of a first start on, no read is refused as too early', async t => {
  // All reads come at once, and a slow machine takes long for them.
  const environment = { QUERY_TIMEOUT_SECONDS: '600' }
  const service = await startService(t, { isFirstStart: true, environment })
  const { url, admin, dataDirectory } = service
  await service.addDevice('kitchen')
  await addStations(admin, ['DEL-01'])
  const key = await makeStationKey(url, admin)
  const token = readFileSync(join(dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
  const authorizationFor = (path: string) => (path.startsWith('/api/v1.0/') ? basicOf(key) : `Bearer ${token}`)
  const reads = readsOf((await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument)
  t.ok(reads.length > 40)
  const ready = async () => ((await (await fetch(`${url}/health/ready`)).json()) as { status: string }).status
  await waitFor('the service is ready', async () => (await ready()) === 'ok')
  const refused: string[] = []
  const read = async (path: string) => {
    const { status, body } = await fetch(url + path, { headers: { authorization: authorizationFor(path) } })
    await body?.cancel()
    if (status >= 500) refused.push(`${status} ${path}`)
  }
  await Promise.all(reads.map(read))
  t.strictSame(refused, [])
})
