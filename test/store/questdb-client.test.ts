import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import pg from 'pg'
import { test } from 'tap'
import { CommitMode } from '../../ingest/forwarder/table-state.ts'
import { createQuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import { isUnanswered, questdbError } from '../../store/questdb/client/questdb-error.ts'
import { createPgConnection } from '../../store/questdb/client/questdb-pg.ts'
import { differences, type Parameter, readParameters, settingsText } from '../../store/questdb/questdb-settings.ts'
import { silentLog, type TestHooks } from '../support/databases.ts'

const hangMs = 600_000
/** Codes of QuestDB's own errors, over HTTP and over the PostgreSQL protocol. */
const codes = {
  'timeout, query aborted [fd=1]': 'TIMED_OUT',
  'table does not exist [table=readings]': 'TABLE_MISSING',
  'unexpected token [SELCT]': 'REFUSED',
}

/** A server that answers as the test says. */
async function serverPort(t: TestHooks, answer: RequestListener): Promise<number> {
  const server = createServer(answer)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

function clientAt(t: TestHooks, port: number) {
  const client = createQuestdbClient({ host: '127.0.0.1', port, tls: false, authorization: undefined })
  t.teardown(() => client.close())
  return client
}

test('every failure of a statement over HTTP has its code', async t => {
  const fails = async (answer: RequestListener, code: string, timeoutMs = hangMs) => {
    const client = clientAt(t, await serverPort(t, answer))
    await t.rejects(client.exec('SELECT 1', timeoutMs), { name: 'QuestdbError', code }, code)
  }
  await t.rejects(clientAt(t, 1).exec('SELECT 1', hangMs), { code: 'NOT_LISTENING' })
  await fails(request => request.socket.destroy(), 'NO_ANSWER')
  await fails((_, response) => response.writeHead(200).write('{"dataset":', () => response.destroy()), 'NO_ANSWER')
  await fails(() => undefined, 'NO_ANSWER', 50)
  await fails((_, response) => response.writeHead(502).end('<html>bad gateway'), 'NO_ANSWER')
  await fails((_, response) => response.writeHead(401).end(), 'ACCESS_DENIED')
  for (const [error, code] of Object.entries(codes)) {
    await fails((_, response) => response.writeHead(400).end(JSON.stringify({ error })), code)
  }
  await fails((_, response) => response.end('hello'), 'FAILED')
  await fails((_, response) => response.end(`{"dataset":[["${'x'.repeat(5_000_000)}"]]}`), 'FAILED')
})

test('a client that is closed has no answer any more', async t => {
  const asked = Promise.withResolvers<void>()
  const client = clientAt(t, await serverPort(t, () => asked.resolve()))
  const answer = client.exec('SELECT 1', hangMs)
  const rejected = t.rejects(answer, { code: 'NO_ANSWER' })
  await asked.promise
  client.close()
  await rejected
})

test('a connection over the PostgreSQL protocol fails with the same codes', async t => {
  const access = { host: '127.0.0.1', user: 'admin', password: 'quest', database: 'qdb' }
  const read = (port: number, signal = new AbortController().signal) => {
    const connection = createPgConnection({ ...access, port }, { connectTimeoutMs: hangMs, statementTimeoutMs: hangMs })
    t.teardown(() => connection.close())
    return connection.read({ text: 'SELECT 1', values: [] }, signal, () => undefined)
  }
  await t.rejects(read(1), { name: 'QuestdbError', code: 'NOT_LISTENING' })
  // A server of HTTP closes the connection at the first byte of another protocol.
  await t.rejects(read(await serverPort(t, () => undefined)), { code: 'NO_ANSWER' })
  for (const [message, code] of Object.entries(codes)) {
    t.equal(questdbError(new pg.DatabaseError(message, message.length, 'error')).code, code)
  }
})

test('only a missing answer of QuestDB itself counts as unanswered', async t => {
  const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
  t.ok(isUnanswered(questdbError(refused)))
  t.equal(questdbError(new AggregateError([refused, refused])).code, 'NOT_LISTENING')
  t.equal(questdbError(new AggregateError([refused, new Error('reset')])).code, 'NO_ANSWER')
  t.notOk(isUnanswered(questdbError(new pg.DatabaseError('unexpected token', 1, 'error'))))
})

test('statements at the same time share one connection, one after the other', async t => {
  let open = 0
  let openMax = 0
  const server = createTcpServer(socket => {
    openMax = Math.max(openMax, ++open)
    socket.on('error', () => undefined).on('close', () => open--)
    // A moment for a second connection, if there were one.
    setTimeout(() => socket.destroy(), 200)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const address = { host: '127.0.0.1', port, user: 'a', password: 'b', database: 'qdb' }
  const connection = createPgConnection(address, { connectTimeoutMs: hangMs, statementTimeoutMs: hangMs })
  const read = () => connection.read({ text: 'SELECT 1', values: [] }, new AbortController().signal, () => undefined)
  const results = await Promise.allSettled([read(), read(), read()])
  const failed = results.filter(({ status }) => status === 'rejected')
  t.equal(failed.length, 3, 'a failure does not stop the ones that wait')
  t.equal(openMax, 1)
})

const wanted = { 'cairo.commit.mode': 'sync', 'line.tcp.enabled': 'false', 'http.password': 'secret' }

function running(changes: Record<string, Partial<Parameter> | undefined> = {}): Map<string, Parameter> {
  const stars = (key: string, value: string): string => (key.endsWith('.password') ? '****' : value)
  const parameters = new Map<string, Parameter>()
  for (const [key, value] of Object.entries(wanted)) parameters.set(key, { value: stars(key, value), source: 'conf' })
  for (const [key, change] of Object.entries(changes)) {
    const before = parameters.get(key)
    if (change === undefined || before === undefined) parameters.delete(key)
    else parameters.set(key, { ...before, ...change })
  }
  return parameters
}

test('an answer without the commit mode is no answer', async t => {
  const query = async () => []
  await t.rejects(readParameters({ exec: query } as never), { code: 'NO_ANSWER' })
  const timing = { monotonicMs: () => 0 } as never
  const mode = new CommitMode({ connection: { query } as never, isSynced: true, timing, log: silentLog })
  await t.rejects(mode.query(true), { code: 'NO_ANSWER' })
  t.equal(mode.isSynced, true)
})

test('active settings are not a difference, nor are unrelated ones', async t => {
  const parameters = running()
  parameters.set('query.timeout', { value: '60s', source: 'default' })
  t.strictSame(differences(wanted, parameters), [])
})

test('each setting that is not in force is named', async t => {
  const finds = (changes: Record<string, Partial<Parameter> | undefined>, texts: string[]): unknown =>
    t.strictSame(differences(wanted, running(changes)), texts)
  finds({ 'cairo.commit.mode': { value: 'nosync' } }, ['cairo.commit.mode is nosync, not sync'])
  // Overridden with the same value by chance: it is still not ours to rely on.
  finds({ 'line.tcp.enabled': { source: 'env' } }, ['line.tcp.enabled comes from its env, not from its configuration'])
  finds({ 'http.password': undefined }, ['http.password is not known to it'])
  finds({ 'http.password': { source: 'default' } }, [
    'http.password comes from its default, not from its configuration',
  ])
})

test('the configuration has one line for each setting', async t => {
  t.equal(
    settingsText(wanted),
    '# Written at each start; changes made here are lost.\ncairo.commit.mode=sync\nline.tcp.enabled=false\nhttp.password=secret\n',
  )
})
