/** The outbox on a real PostgreSQL, and the delivery of mails. */

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { createMailTransport } from '../../auth/mail/mail-transport.ts'
import { createMailer } from '../../auth/mail/mailer.ts'
import { queueMail } from '../../auth/mail/outbox-rows.ts'
import { type Mail, renderMail } from '../../auth/mail/templates.ts'
import {
  closing,
  nowhere,
  recordingLog,
  startDatabases,
  type TestHooks,
  temporaryFolder,
} from '../support/databases.ts'
import { waitFor } from '../support/wait-for.ts'

const { store } = await startDatabases(t, nowhere)
const pool = store.postgres
const publicUrl = 'https://barograph.example'
const mail = { ...renderMail({ kind: 'password-reset', email: 'ada@example.com', publicUrl, token: 'abc' }) }
let nowMs = Date.parse('2026-05-01T00:00:00Z')

const { log, texts } = recordingLog('warn')
const openMailer = (send: (mail: Mail) => Promise<void>, on = pool) =>
  createMailer({ pool: on, nowMs: () => nowMs, log, publicUrl: () => publicUrl, send })

function startMailer(t: TestHooks) {
  const sent: Mail[] = []
  const mailer = closing(
    t,
    openMailer(async mail => void sent.push(mail)),
  )
  return { mailer, sent }
}

const queueReset = (...emails: string[]) =>
  Promise.all(emails.map(email => queueMail(pool, { kind: 'password-reset', email, accountId: null, nowMs })))
const outbox = async () => (await pool.query('SELECT attempts, due_at FROM mail_outbox')).rows
const untilBoxIsEmpty = () => waitFor('the box is empty', async () => (await outbox()).length === 0)

async function add(email: string): Promise<number> {
  const { rows } = await pool.query<{ id: number }>(
    'INSERT INTO accounts (email, created_at, updated_at) VALUES ($1, now(), now()) RETURNING id',
    [email],
  )
  return rows[0]?.id ?? 0
}

t.test('a mail is retried with growing delays, and dropped after a day', async t => {
  const sent: Mail[] = []
  let isAway = true
  let tries = 0
  const send = async (mail: Mail) => {
    tries += 1
    if (isAway) throw Object.assign(new Error(`no connection for ${mail.text}`), { code: 'ECONNECTION' })
    sent.push(mail)
  }
  const mailer = closing(t, openMailer(send))
  const id = await add('ada@example.com')
  await queueReset('ada@example.com')
  const waits: number[] = []
  for (let at = 1; at <= 8; at++) {
    mailer.wake()
    await waitFor('it was tried', () => tries === at)
    await waitFor('that is noted', async () => (await outbox())[0]?.attempts === at)
    const [row] = await outbox()
    waits.push((row.due_at.getTime() - nowMs) / 60_000)
    nowMs = row.due_at.getTime()
  }
  t.strictSame(waits, [1, 2, 4, 8, 16, 32, 60, 60])
  t.equal(texts.length, 8)
  isAway = false
  mailer.wake()
  await waitFor('it is sent', () => sent.length === 1)
  await untilBoxIsEmpty()
  t.match(sent, [{ to: 'ada@example.com', text: /https:\/\/barograph\.example\/reset\?token=[\w-]{43}\n/ }])
  isAway = true
  await queueMail(pool, { kind: 'password-changed', email: 'ada@example.com', accountId: id, nowMs })
  await pool.query('UPDATE mail_outbox SET attempts = 27')
  mailer.wake()
  await untilBoxIsEmpty()
})

t.test('an address without an account gets no mail', async t => {
  const { mailer, sent } = startMailer(t)
  for (const kind of ['password-reset', 'verification'] as const) {
    await queueMail(pool, { kind, email: 'nobody@example.com', accountId: null, nowMs })
  }
  await pool.query("UPDATE accounts SET email_verified_at = now() WHERE email = 'ada@example.com'")
  await queueMail(pool, { kind: 'verification', email: 'ada@example.com', accountId: null, nowMs })
  mailer.wake()
  await untilBoxIsEmpty()
  t.strictSame(sent, [])
})

t.test('one of several senders sends each mail, so that its link stays valid', async t => {
  const sent: Mail[] = []
  const held = Promise.withResolvers<void>()
  const send = async (mail: Mail) => {
    sent.push(mail)
    await held.promise
  }
  await add('grace@example.com')
  await queueReset('grace@example.com', 'ada@example.com')
  const mailers = [1, 2, 3].map(() => openMailer(send))
  t.teardown(() => Promise.all(mailers.map(mailer => mailer.close())))
  for (const mailer of mailers) mailer.wake()
  await waitFor('both are being sent', () => sent.length >= 2)
  const late = openMailer(send)
  late.wake()
  const closed = late.close()
  held.resolve()
  await closed
  await untilBoxIsEmpty()
  t.strictSame([sent.length, new Set(sent.map(({ to }) => to))], [2, new Set(['ada@example.com', 'grace@example.com'])])
})

t.test('another sender sends the mail of a killed one', async t => {
  const died = openMailer(() => new Promise<never>(() => undefined))
  await queueReset('ada@example.com')
  const dueMs = async () => (await outbox())[0]?.due_at.getTime()
  const before = await dueMs()
  died.wake()
  await waitFor('it is taken', async () => (await dueMs()) > before)
  nowMs = await dueMs()
  const { mailer, sent } = startMailer(t)
  mailer.wake()
  await waitFor('it is sent', () => sent.length === 1)
  await untilBoxIsEmpty()
})

t.test('mails whose outcome cannot be written do not start a concurrent run', async t => {
  const held = Promise.withResolvers<void>()
  const begun: string[] = []
  const send = async ({ to }: Mail) => {
    begun.push(to)
    if (to === 'grace@example.com') await held.promise
  }
  const broken = {
    query: (text: string, values: unknown[]) =>
      /^DELETE/.test(text) ? Promise.reject(new Error('Connection terminated')) : pool.query(text, values),
  } as unknown as typeof pool
  const mailer = openMailer(send, broken)
  t.teardown(() => pool.query('TRUNCATE mail_outbox'))
  await queueReset('grace@example.com', 'ada@example.com')
  mailer.wake()
  await waitFor('both are being sent', () => begun.length === 2)
  let isClosed = false
  const closed = mailer.close().then(() => {
    isClosed = true
  })
  await new Promise(resolve => setTimeout(resolve, 50))
  t.notOk(isClosed, 'a close waits for what is being sent')
  held.resolve()
  await closed
})

t.test('a full outbox is an error', async t => {
  t.teardown(() => pool.query('TRUNCATE mail_outbox'))
  await pool.query(`INSERT INTO mail_outbox (kind, email, created_at, due_at)
    SELECT 'verification', 'x@example.com', now(), now() + interval '1 year' FROM generate_series(1, 10000)`)
  await t.rejects(queueReset('x@example.com'), { message: 'too many pending mails' })
})

function openTransport(t: TestHooks, folder: string, smtpUrl?: string) {
  const transport = createMailTransport({ smtpUrl, from: () => 'b@example.com', folder, nowMs: () => nowMs })
  t.teardown(() => transport.close())
  return transport
}

t.test('without a mail server a mail is a file, whose HTML escapes texts', async t => {
  const odd = { kind: 'verification', email: 'a@b.example', publicUrl: 'https://x.example/<b>"', token: 't' } as const
  t.match(renderMail(odd).html, 'href="https://x.example/&lt;b&gt;&quot;/verify?token=t"')

  const folder = temporaryFolder(t)
  await openTransport(t, folder).send(mail)
  const names = readdirSync(folder)
  t.equal(names.length, 1)
  t.match(names[0], /^[\dTZ-]+-[0-9a-f]{8}\.eml$/)
  const path = join(folder, names[0] ?? '')
  t.equal(statSync(path).mode & 0o777, 0o600)
  const text = readFileSync(path, 'utf8')
  for (const line of ['To: ada@example.com', 'From: b@example.com', 'Subject: Set a new password']) {
    t.ok(text.split('\n').includes(line), line)
  }
  t.match(text, /multipart\/alternative[\s\S]*text\/html/)
  t.ok(text.includes(`\n\n${mail.text}\n\n--`), 'the text with its link is there as it is')
})

t.test('mails about a subject are removed from the folder, and no others', async t => {
  const folder = temporaryFolder(t)
  const transport = openTransport(t, folder)
  const many = Array.from({ length: 20 }, (_, at) => String(9_000_000_000_000 + at))
  const about = (...ids: string[]) => ({ ...mail, subject: `about ${ids[0]}`, headers: { 'x-test': ids.join(' ') } })
  await transport.send(mail)
  await transport.send(about('1', '2'))
  await transport.send(about('2', '3'))
  await transport.send({ ...mail, subject: 'about none', text: 'X-Test: 3' })
  await transport.send(about('5', ...many))
  writeFileSync(join(folder, '2026-05-01-left.eml.new'), 'X-Test: 1')
  const asked: string[][] = []
  const remove = (...gone: string[]) =>
    transport.removeWritten('x-test', async ids => {
      asked.push([...ids])
      return new Set(gone)
    })
  const subjects = () =>
    readdirSync(folder)
      .map(name => /^Subject: (.*)$/m.exec(readFileSync(join(folder, name), 'utf8'))?.[1])
      .sort()
  await remove('3')
  t.strictSame([asked.length, asked[0]?.sort()], [1, ['1', '2', '3', '5', ...many]], 'each id once')
  t.strictSame(subjects(), ['Set a new password', 'about 1', 'about 5', 'about none'], 'half a mail is gone, too')
  const writing = transport.send(about('7'))
  await remove('7', ...many.slice(-1))
  await writing
  const left = ['Set a new password', 'about 1', 'about none']
  t.strictSame(subjects(), left, 'one that was being written, and a long list')
  const bySmtp = openTransport(t, folder, 'smtp://127.0.0.1:9')
  await bySmtp.removeWritten('x-test', async () => new Set(['1']))
  t.strictSame(subjects(), ['Set a new password', 'about none'], 'a service that has a mail server now')
})

t.test('a mail is sent to the configured mail server', async t => {
  const lines: string[] = []
  const server = createServer(socket => speakSmtp(socket, lines))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  await openTransport(t, '/nowhere', `smtp://127.0.0.1:${port}`).send(mail)
  const headers = ['RCPT TO:<ada@example.com>', 'MAIL FROM:<b@example.com>', 'Auto-Submitted: auto-generated']
  for (const line of headers) t.ok(lines.includes(line), line)
})

function speakSmtp(socket: Socket, lines: string[]): void {
  let isData = false
  const answerTo = (line: string): string | undefined => {
    if (isData && line !== '.') return undefined
    isData = line === 'DATA'
    return isData ? '354 go' : '250 ok'
  }
  socket.write('220 test\r\n')
  socket.on('error', () => undefined)
  createInterface(socket).on('line', line => {
    lines.push(line)
    const answer = answerTo(line)
    if (answer !== undefined) socket.write(`${answer}\r\n`)
  })
}
