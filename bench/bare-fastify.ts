/**
 * The baseline: a Fastify server whose routes only do HTTP and JSON. `PUT /api/log` parses the same JSON and returns
 * the same object. `GET /api/latest/all/24` sends bytes from the parent. The process sends its port to the parent.
 */

import { fastify } from 'fastify'

const app = fastify()
let latest = Buffer.alloc(0)
// The parent may be killed.
process.once('disconnect', () => process.exit())
process.on('message', ({ body }: { body: string }) => {
  latest = Buffer.from(body)
})
app.put('/api/log', () => Promise.resolve({ status: 'success' }))
app.get('/api/latest/all/24', (_request, reply) => reply.type('application/json; charset=utf-8').send(latest))
await app.listen({ host: '127.0.0.1', port: 0 })
const address = app.server.address()
process.send?.(typeof address === 'object' && address !== null ? address.port : 0)
process.on('SIGTERM', () => process.exit())
