import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { test } from 'tap'
import { connectQuestdb, type QuestdbConnection, type WriteAnswer } from '../../ingest/forwarder/questdb.ts'
import type { RequestBody } from '../../ingest/forwarder/write-request.ts'
import { createSendGuard } from '../../ingest/kafka/consume/spool-source.ts'
import type { TestHooks } from '../support/databases.ts'
import { bodyOf } from '../support/request-body.ts'

async function listen(t: TestHooks, server: Server): Promise<number> {
  t.teardown(() => server.close())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

const portOf = (t: TestHooks, onRequest: RequestListener) => listen(t, createServer(onRequest))

function connect(t: TestHooks, port: number, timeoutMs: number): QuestdbConnection {
  const connection = connectQuestdb({ host: '127.0.0.1', port, tls: false, authorization: undefined }, timeoutMs)
  t.teardown(() => connection.close())
  return connection
}

function send(t: TestHooks, port: number, body: RequestBody, timeoutMs = 600_000): Promise<WriteAnswer> {
  return connect(t, port, timeoutMs).write(body)
}

const oneRow = bodyOf(Buffer.from('readings temperature=1 1t\n'))

test('rows that were never sent have failed, unlike rows without an answer', async t => {
  const closed = createServer()
  const closedPort = await listen(t, closed)
  await new Promise(resolve => closed.close(resolve))
  t.match(await send(t, closedPort, oneRow), { kind: 'failed', status: undefined })

  const cutting = await portOf(t, request => request.socket.destroy())
  t.match(await send(t, cutting, oneRow), { kind: 'unanswered' })
  const silent = await portOf(t, () => undefined)
  t.match(await send(t, silent, oneRow, 50), { kind: 'unanswered' })
  const proxy = await portOf(t, (_, response) => response.writeHead(504).end('upstream timed out'))
  t.match(await send(t, proxy, oneRow), { kind: 'unanswered', message: 'upstream timed out' })
})

/** Pieces in two buffers that are filled in turns, as the rows of a round are. */
function* piecesInTurns(count: number, pieceBytes: number): Generator<Uint8Array> {
  const buffers = [new Uint8Array(pieceBytes), new Uint8Array(pieceBytes)]
  for (let index = 0; index < count; index++) yield (buffers[index % 2] as Uint8Array).fill(index)
}

const pieceBytes = 262_144
const bodyInTurns = { length: 64 * pieceBytes, pieces: () => piecesInTurns(64, pieceBytes) }

test('a long request arrives as it was made, though its pieces share two buffers', async t => {
  const bytes: Buffer[] = []
  const slow = await portOf(t, async (request, response) => {
    for await (const piece of request) {
      bytes.push(piece)
      await new Promise(resolve => setTimeout(resolve, 1))
    }
    response.writeHead(204).end()
  })
  t.match(await send(t, slow, bodyInTurns), { kind: 'stored' })
  const whole = Buffer.concat(bytes)
  for (let index = 0; index < 64; index++) {
    const piece = whole.subarray(index * pieceBytes, (index + 1) * pieceBytes)
    if (piece.length !== pieceBytes || !piece.every(byte => byte === index)) t.fail(`piece ${index} is another one`)
  }
})

test('an answer before the last row counts, and the connection serves the next request', async t => {
  const hasty = await portOf(t, (_, response) => response.writeHead(400).end('no such column'))
  const connection = connect(t, hasty, 600_000)
  for (let turn = 0; turn < 3; turn++) {
    const answer = await connection.write(bodyInTurns)
    t.ok(answer.kind === 'refused' || answer.kind === 'unanswered', answer.kind)
  }
})

test('a request may take long while it moves', async t => {
  const bytesPerStep = 1024 * 1024
  const slow = await portOf(t, async (request, response) => {
    let seen = 0
    for await (const piece of request) {
      seen += (piece as Buffer).length
      if (seen < bytesPerStep) continue
      seen = 0
      await new Promise(resolve => setTimeout(resolve, 100))
    }
    response.writeHead(204).end()
  })
  const idleMs = 2000
  const body = { length: 64 * bytesPerStep, pieces: () => piecesInTurns(64, bytesPerStep) }
  t.match(await send(t, slow, body, idleMs), { kind: 'stored' })
})

const rows = { length: 2, pieces: () => [Buffer.from('a'), Buffer.from('b')] }

function createRig() {
  let isHeld = true
  const sent: string[] = []
  const rig = {
    /** The replica is lost before the piece of this number. */
    lostBefore: Number.POSITIVE_INFINITY,
    answer: { kind: 'stored' } as WriteAnswer,
    lose() {
      isHeld = false
    },
  }
  const connect = (): QuestdbConnection => ({
    async write({ pieces }) {
      let count = 0
      try {
        for (const piece of pieces()) {
          sent.push(piece.toString())
          if (++count >= rig.lostBefore) isHeld = false
        }
        return rig.answer
      } catch (error) {
        return { kind: 'unanswered', message: String(error) }
      }
    },
    query: async () => [],
    close: () => undefined,
  })
  const sends = createSendGuard(() => isHeld)
  return { rig, sent, sends, guarded: sends.guard(connect()), another: sends.guard(connect()) }
}

t.test('a request stops at the loss of the replica and is unknown if a part was sent', async t => {
  const cases = [
    { lostBefore: Number.POSITIVE_INFINITY, kind: 'stored', sent: ['a', 'b'], isLate: false },
    { lostBefore: 0, kind: 'failed', sent: [], isLate: false },
    { lostBefore: 1, kind: 'unanswered', sent: ['a'], isLate: true },
    { lostBefore: 2, kind: 'stored', sent: ['a', 'b'], isLate: true },
  ]
  for (const { lostBefore, kind, sent: expected, isLate } of cases) {
    const { guarded, sends, sent, rig } = createRig()
    rig.lostBefore = lostBefore
    if (lostBefore === 0) rig.lose()
    t.equal((await guarded.write(rows)).kind, kind)
    t.strictSame([sent, sends.mayHaveSentLate()], [expected, isLate])
  }
})

t.test('one without an answer may come late, until it was repeated over the same connection', async t => {
  const { guarded, another, sends, rig } = createRig()
  rig.answer = { kind: 'unanswered', message: 'cut' }
  await guarded.write(rows)
  rig.answer = { kind: 'stored' }
  await another.write(rows)
  t.equal(sends.mayHaveSentLate(), true)
  await guarded.write(rows)
  t.equal(sends.mayHaveSentLate(), false)
})
