/** The yardstick: a Fastify server that only parses the same JSON and sends the same answer. Tells its port to its parent. */

import { fastify } from 'fastify'

const app = fastify()
const success = Buffer.from('{"status":"success"}')
app.put('/api/log', (_request, reply) => reply.type('application/json; charset=utf-8').send(success))
await app.listen({ host: '127.0.0.1', port: 0 })
const address = app.server.address()
process.send?.(typeof address === 'object' && address !== null ? address.port : 0)
process.on('SIGTERM', () => void app.close())
