import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'tap'
import { connectQuestdb } from '../../ingest/questdb.ts'
import type { TestHooks } from '../support/databases.ts'

async function portOf(t: TestHooks, server: Server): Promise<number> {
  t.teardown(() => server.close())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

function write(t: TestHooks, port: number, timeoutMs = 5000) {
  const connection = connectQuestdb({ host: '127.0.0.1', port, tls: false, authorization: undefined }, timeoutMs)
  t.teardown(() => connection.close())
  return connection.write(Buffer.from('readings temperature=1 1t\n'))
}

test('rows that never left have failed, and rows without an answer are told apart from them', async t => {
  const closed = createServer()
  const closedPort = await portOf(t, closed)
  await new Promise(resolve => closed.close(resolve))
  t.match(await write(t, closedPort), { kind: 'failed', status: undefined })

  const cutting = await portOf(
    t,
    createServer(request => request.socket.destroy()),
  )
  t.match(await write(t, cutting), { kind: 'unanswered' })

  const silent = await portOf(
    t,
    createServer(() => undefined),
  )
  t.match(await write(t, silent, 50), { kind: 'unanswered' })

  const proxy = await portOf(
    t,
    createServer((_, response) => response.writeHead(504).end('upstream timed out')),
  )
  t.match(await write(t, proxy), { kind: 'unanswered', message: 'upstream timed out' })
})
