/** The place of the managed PostgreSQL's socket, its permissions, and leftovers of a killed service. */

import fs, { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { type Test, test } from 'tap'
import { startPostgres } from '../../store/postgres/postgres-server.ts'
import { makeSocketFolder } from '../../store/postgres/postgres-user.ts'
import { openTestDirectory, silentLog, temporaryFolder } from '../support/databases.ts'
import { serverPid } from '../support/processes.ts'

/** A DATA_DIR of maximum length, without room for a socket below it. */
const longName = 'a name with, a comma and "quotes" '.repeat(4)

async function start(t: Test, path: string) {
  const directory = openTestDirectory(t, path)
  const { signal } = new AbortController()
  const server = await startPostgres({ directory, environment: process.env, log: silentLog, signal })
  t.teardown(() => server.close())
  return { directory, server }
}

async function query(address: pg.ClientConfig): Promise<unknown[]> {
  const client = new pg.Client(address)
  await client.connect()
  try {
    return (await client.query({ text: 'SELECT 1', rowMode: 'array' })).rows
  } finally {
    await client.end()
  }
}

/** The number of its sockets that accept connections, as the kernel lists them, ports included. */
function listening(pid: number, ...tables: string[]): number {
  const sockets = readdirSync(`/proc/${pid}/fd`).map(fd => {
    try {
      return fs.readlinkSync(`/proc/${pid}/fd/${fd}`)
    } catch {
      return ''
    }
  })
  const paths = tables.map(table => `/proc/${pid}/net/${table}`).filter(existsSync)
  const words = new Set(paths.flatMap(path => readFileSync(path, 'utf8').split(/\s/)))
  return sockets.filter(socket => socket.startsWith('socket:[') && words.has(socket.slice(8, -1))).length
}

test('PostgreSQL listens on a private socket in the data directory and on no port', async t => {
  const { directory, server } = await start(t, join(temporaryFolder(t), 'data, "of mine"'))
  const folder = join(directory.postgres, 'socket')
  t.equal(server.address.host, folder)
  t.same(await query(server.address), [[1]])
  const pid = serverPid(directory, 'postgres')
  t.equal(listening(pid, 'tcp', 'tcp6'), 0)
  t.ok(listening(pid, 'unix') > 0)
  t.equal(lstatSync(folder).mode & 0o777, 0o700)
  t.equal(lstatSync(folder).uid, lstatSync(join(directory.postgres, 'data')).uid)
  const wrong = { ...server.address, password: 'wrong' }
  await t.rejects(query(wrong), { code: '28P01' }, 'who reaches the socket still needs the password')
  await server.close()
  t.notOk(existsSync(folder))
})

test('a data directory whose path is too long for a socket has a link to a short one', async t => {
  const { directory, server } = await start(t, join(temporaryFolder(t), longName))
  const link = join(directory.postgres, 'socket')
  const { host } = server.address
  t.match(host, /^\/tmp\/barograph-[\da-f]{12}-\w{6}$/)
  t.equal(fs.realpathSync(link), fs.realpathSync(host), 'who looks for it finds it')
  t.equal(lstatSync(host).mode & 0o777, 0o700)
  t.same(await query(server.address), [[1]])
  await server.close()
  t.notOk(existsSync(host))
  t.notOk(lstatSync(link, { throwIfNoEntry: false }))
})

test("a killed service's socket is removed without other files", t => {
  const base = join(temporaryFolder(t), longName)
  const [folder, copy] = [join(base, 'postgres'), join(base, 'copied')]
  mkdirSync(folder, { recursive: true })
  const killed = makeSocketFolder(folder, undefined)
  writeFileSync(join(killed.path, '.s.PGSQL.5432.lock'), `${process.pid}\n`)
  fs.cpSync(folder, copy, { recursive: true, verbatimSymlinks: true })
  const ofCopy = makeSocketFolder(copy, undefined)
  t.teardown(() => ofCopy.remove())
  t.ok(existsSync(killed.path), 'the link that was copied leads to the socket of another directory')
  const again = makeSocketFolder(folder, undefined)
  t.teardown(() => again.remove())
  t.notOk(existsSync(killed.path))
  t.strictSame(readdirSync(again.path), [])
  t.end()
})

test("a killed server's lock file with the pid of another process", async t => {
  const path = join(temporaryFolder(t), 'data')
  const folder = join(path, 'postgres', 'socket')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, '.s.PGSQL.5432.lock'), `${process.pid}\n`)
  const { server } = await start(t, path)
  t.same(await query(server.address), [[1]])
})
