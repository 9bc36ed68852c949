/** A load balancer before several nodes: each request goes to the one behind that of the request before. */

import { createServer, request } from 'node:http'
import type { TestHooks } from '../support/databases.ts'

export interface AlternatingProxy {
  url: string
  /** How many requests each of the nodes has got. */
  counts: number[]
}

/** Listens on the port. `urls` are those of the nodes. */
export async function startAlternatingProxy(
  t: TestHooks,
  port: number,
  urls: readonly string[],
): Promise<AlternatingProxy> {
  const counts = urls.map(() => 0)
  let at = 0
  const server = createServer((asked, answer) => {
    const node = at++ % urls.length
    counts[node] = (counts[node] ?? 0) + 1
    const { method, url = '', headers } = asked
    const forwarded = request(new URL(url, urls[node]), { method, headers }, answered => {
      answer.writeHead(answered.statusCode ?? 502, answered.rawHeaders)
      answered.pipe(answer)
    })
    forwarded.on('error', () => answer.destroy())
    asked.pipe(forwarded)
  })
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://localhost:${port}`, counts }
}
