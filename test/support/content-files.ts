/** The listing of content files over HTTP, on a real PostgreSQL, without the rest of the service. */

import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type pg from 'pg'
import { contentFilesFamily } from '../../api/content-files/content-files.ts'
import { createServer } from '../../api/http/server.ts'
import { createContentFileImporter } from '../../query/content/import/importer.ts'
import { createConnections } from '../../store/limits/connections.ts'
import { closing, nowhere, silentLog, startDatabases, type TestHooks } from './databases.ts'
import { holdToContract } from './held-answers.ts'

export interface ContentFileAnswer {
  status: number
  headers: http.IncomingHttpHeaders
  text: string
}

export async function startContentFileStore(t: TestHooks) {
  const { store } = await startDatabases(t, nowhere)
  const importer = closing(t, createContentFileImporter({ postgres: store.postgres, audit: async () => undefined }))
  return {
    postgres: store.postgres,
    /** Imports lines. All must be accepted. */
    async importLines(lines: readonly object[]): Promise<void> {
      const body = lines.map(line => `${JSON.stringify(line)}\n`).join('')
      const answer = await importer.importFiles(Buffer.from(body), 'test')
      if (typeof answer === 'string' || answer.rejected > 0) throw new Error(`refused: ${JSON.stringify(answer)}`)
    },
  }
}

export interface ListingServerOptions {
  publicUrl?: string
  trustProxy?: string[]
}

export async function startListing(
  t: TestHooks,
  postgres: pg.Pool,
  { publicUrl, trustProxy }: ListingServerOptions = {},
) {
  const connections = createConnections({ max: 1000, perAddress: 1000, isTrusted: () => true, log: silentLog })
  const app = createServer({
    config: { CACHE_BYTES_MAX: 128 * 1024 * 1024, TRUST_PROXY: trustProxy, TLS_CERT: undefined, TLS_KEY: undefined },
    connections,
    measure: () => undefined,
    families: [contentFilesFamily({ postgres, publicUrl, log: silentLog })],
    log: silentLog,
  })
  holdToContract(t, app)
  await app.listen({ port: 0, host: '127.0.0.1' })
  t.teardown(() => app.close())
  const { port } = app.server.address() as AddressInfo
  /** Sends the path as it is. */
  async function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<ContentFileAnswer> {
    const request = http.request({ port, host: '127.0.0.1', path, headers, method, agent: false })
    request.end()
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    return { status: response.statusCode ?? 0, headers: response.headers, text }
  }
  return { origin: `http://127.0.0.1:${port}`, ask }
}
