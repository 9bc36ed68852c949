/** A gate before a port that speaks PostgreSQL's protocol: it counts the questions, and can hold the answers back or shut. */

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { QuestdbPg } from '../../store/questdb/client/questdb-address.ts'
import type { TestHooks } from './databases.ts'

export async function openGate(t: TestHooks, target: QuestdbPg) {
  const pairs = new Map<Socket, Socket>()
  let held = false
  const cuts: string[] = []
  let count = 0

  const server = createServer(client => {
    const questdb = connectTo(target)
    pairs.set(client, questdb)
    const countExecutes = executeCounter(() => count++)
    client.on('data', bytes => {
      const before = count
      countExecutes(bytes)
      const [cut] = cuts
      if (count > before && cut !== undefined && bytes.includes(cut)) {
        cuts.shift()
        client.destroy()
        return
      }
      questdb.write(bytes)
    })
    questdb.on('data', bytes => client.write(bytes))
    if (held) questdb.pause()
    for (const [one, other] of [
      [client, questdb],
      [questdb, client],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => {
        other.destroy()
        pairs.delete(client)
      })
    }
  })

  async function listen(port: number): Promise<void> {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }

  /** Cuts every connection and refuses new ones. */
  async function shut(): Promise<void> {
    const closed = once(server, 'close')
    server.close()
    for (const client of pairs.keys()) client.destroy()
    await closed
  }

  await listen(0)
  const { port } = server.address() as AddressInfo
  t.teardown(() => (server.listening ? shut() : undefined))
  return {
    address: { ...target, host: '127.0.0.1', port },
    /** Counts the statements that were executed through the gate. */
    statements: () => count,
    /** Counts the open ones. */
    connections: () => pairs.size,
    /** Answers wait until `release`. */
    hold() {
      held = true
      for (const questdb of pairs.values()) questdb.pause()
    },
    release() {
      held = false
      for (const questdb of pairs.values()) questdb.resume()
    },
    /** Cuts the connection over which the next statement with this text comes, before it is passed on. */
    cutAtNextStatement(text = '') {
      cuts.push(text)
    },
    shut,
    open: () => listen(port),
  }
}

/** A host that is a path is the folder of PostgreSQL's socket. */
function connectTo({ host, port }: QuestdbPg): Socket {
  return host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
}

/** Parses a client's bytes: a length and a start-up packet, then messages of a letter and a length. */
function executeCounter(onExecute: () => void): (bytes: Buffer) => void {
  // A prepared execution, or a simple query.
  const statements: (number | undefined)[] = ['E'.charCodeAt(0), 'Q'.charCodeAt(0)]
  let pending: Buffer = Buffer.alloc(0)
  let started = false
  return bytes => {
    pending = Buffer.concat([pending, bytes])
    for (;;) {
      const letters = started ? 1 : 0
      if (pending.length < letters + 4) return
      const length = letters + pending.readUInt32BE(letters)
      if (pending.length < length) return
      if (started && statements.includes(pending[0])) onExecute()
      started = true
      pending = pending.subarray(length)
    }
  }
}
